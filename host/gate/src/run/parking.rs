//! Calls that wait for a person. They hold no permit and their clocks stand still, so only their number bounds them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use loggia_facade::{Failure, code};

use super::state::CallState;
use crate::access::Account;

/// Open questions of all callers: each keeps an instance of the sandbox alive.
const MAX_QUESTIONS: usize = 64;
/// Open questions of one caller, of those. A workflow may put many at once, and call others that do.
const MAX_CALLER_QUESTIONS: usize = MAX_QUESTIONS / 4;
/// The same for the person at this machine, who shares with nobody, and for an account that may be that of many.
const MAX_SHARED_QUESTIONS: usize = MAX_QUESTIONS / 2;

/// Counts the parked calls. Callers without a name are counted by their address; the person at this machine, who has no
/// account, is one more.
#[derive(Clone)]
pub(crate) struct ParkedCalls {
    parked: Arc<Mutex<HashMap<Option<Account>, ParkedCount>>>,
    /// Parked calls of one caller. However many questions a call puts at once, it is one.
    calls: usize,
}

/// What one caller keeps waiting.
#[derive(Default, Clone, Copy)]
struct ParkedCount {
    calls: usize,
    questions: usize,
}

/// A branch of a call is parked for as long as this lives.
pub(crate) struct ParkedGuard {
    parking: ParkedCalls,
    call: Arc<CallState>,
}

impl ParkedCalls {
    /// So many calls of one caller may be parked.
    pub(crate) fn new(calls: usize) -> Self {
        Self { parked: Arc::default(), calls }
    }

    /// Parks a call, or another branch of one.
    pub(crate) fn park(&self, call: &Arc<CallState>) -> Result<ParkedGuard, Failure> {
        let mut parked = self.lock();
        let all: usize = parked.values().map(|count| count.questions).sum();
        let ParkedCount { calls, questions } = parked.get(&call.account).copied().unwrap_or_default();
        let busy = |message: String| {
            Err(Failure::new(code::UNAVAILABLE, message).hint("answer or cancel one of them first"))
        };
        // Behind one address without a name there may be many, each of whom leaves a question open now and then.
        let is_many = call.account.as_ref().is_some_and(Account::is_many);
        if calls >= self.calls && !is_many && !call.is_parked() {
            return busy(format!("busy: {calls} calls of yours wait for an answer already"));
        }
        if questions
            >= if is_many || call.account.is_none() { MAX_SHARED_QUESTIONS } else { MAX_CALLER_QUESTIONS }
        {
            return busy(format!("busy: {questions} questions to you are open already"));
        }
        if all >= MAX_QUESTIONS {
            let message = "busy: too many calls wait for an answer";
            return Err(Failure { retry_after_ms: Some(10_000), ..Failure::new(code::UNAVAILABLE, message) });
        }
        let count = parked.entry(call.account.clone()).or_default();
        count.questions += 1;
        count.calls += usize::from(call.park());
        drop(parked);
        Ok(ParkedGuard { parking: self.clone(), call: Arc::clone(call) })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<Account>, ParkedCount>> {
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
