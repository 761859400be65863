//! Calls that wait for a person. They hold no permit and their clocks are stopped, so their number is limited here.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use loggia_facade::Failure;

use super::state::CallState;
use crate::{access::CallerAccount, failures};

/// Open questions of all callers. Each keeps a sandbox instance alive.
const MAX_QUESTIONS: usize = 64;
/// Open questions of one caller. A workflow may ask several at once.
const MAX_CALLER_QUESTIONS: usize = MAX_QUESTIONS / 4;
/// Open questions of the local user, and of an account that several clients may share.
const MAX_SHARED_QUESTIONS: usize = MAX_QUESTIONS / 2;

/// Counts parked calls by account; anonymous callers by their address, the local user under `None`.
#[derive(Clone)]
pub(crate) struct ParkedCalls {
    /// Counts of each account that has any. Held only while counts change, never across an await. Within it only the lock
    /// of one call's state is taken, so that the counts and that call's own number of parked branches change together;
    /// no code takes this lock under a call's state, so the two cannot deadlock. Nobody waits here: a call beyond a limit
    /// is refused.
    parked: Arc<Mutex<HashMap<Option<CallerAccount>, ParkedCount>>>,
    /// Limit of parked calls per account. A call counts once, however many questions it has open.
    calls: usize,
}

/// Parked calls and open questions of one account.
#[derive(Default, Clone, Copy)]
struct ParkedCount {
    calls: usize,
    questions: usize,
}

/// Keeps one branch of a call parked; dropping it resumes the branch.
pub(crate) struct ParkedGuard {
    parking: ParkedCalls,
    call: Arc<CallState>,
}

impl ParkedCalls {
    /// Creates a counter with this limit of parked calls per account.
    pub(crate) fn new(calls: usize) -> Self {
        Self { parked: Arc::default(), calls }
    }

    /// Parks a branch of a call.
    pub(crate) fn park(&self, call: &Arc<CallState>) -> Result<ParkedGuard, Failure> {
        let mut parked = self.lock();
        // The host that admitted a resumed call had room for its question. A host that takes over many such calls keeps them all:
        // else the question would be lost with its host.
        if !call.is_resumed {
            self.check_room(&parked, call)?;
        }
        let count = parked.entry(call.account.clone()).or_default();
        count.questions += 1;
        count.calls += usize::from(call.park());
        drop(parked);
        Ok(ParkedGuard { parking: self.clone(), call: Arc::clone(call) })
    }

    /// Checks the limits for one more question of a call.
    fn check_room(
        &self,
        parked: &HashMap<Option<CallerAccount>, ParkedCount>,
        call: &CallState,
    ) -> Result<(), Failure> {
        let all: usize = parked.values().map(|count| count.questions).sum();
        let ParkedCount { calls, questions } = parked.get(&call.account).copied().unwrap_or_default();
        let busy = |reason: String| Err(failures::busy(reason).hint("answer or cancel one of them first"));
        // Many clients may share a proxy's address, each of which leaves a question open now and then.
        let is_many = call.account.as_ref().is_some_and(CallerAccount::is_shared);
        if calls >= self.calls && !is_many && !call.is_parked() {
            return busy(format!("{calls} calls of yours wait for an answer already"));
        }
        if questions
            >= if is_many || call.account.is_none() { MAX_SHARED_QUESTIONS } else { MAX_CALLER_QUESTIONS }
        {
            return busy(format!("{questions} questions to you are open already"));
        }
        if all >= MAX_QUESTIONS {
            let failure = failures::busy("too many calls wait for an answer");
            return Err(Failure { retry_after_ms: Some(10_000), ..failure });
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<CallerAccount>, ParkedCount>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ParkedGuard {
    fn drop(&mut self) {
        let mut parked = self.parking.lock();
        let resumed = self.call.resume();
        if let Some(count) = parked.get_mut(&self.call.account) {
            count.questions -= 1;
            count.calls -= usize::from(resumed);
            if count.questions == 0 {
                parked.remove(&self.call.account);
            }
        }
    }
}
