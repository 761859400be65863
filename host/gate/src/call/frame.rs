//! One call as the facade that answers it sees it: the state of the frame, its permit, and the calls above it.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use loggia_facade::{CallId, Failure, Limit, code};
use tokio::time::Instant;

use super::{gate_state::Shared, timeout::Late};
use crate::{
    catalog::{Entry, Slot},
    flow::CallPermit,
    run::Run,
};

/// One call as its facade sees it.
pub struct Line {
    pub(super) id: CallId,
    pub(super) shared: Arc<Shared>,
    pub(super) run: Arc<Run>,
    pub(super) entry: Arc<Entry>,
    pub(super) action: usize,
    /// When the call's own clock ends, in the terms of [`Run::due`].
    pub(super) due: Instant,
    /// The call that made this one.
    pub(super) above: Option<Arc<Line>>,
    /// The right to run; given up while the call, or one that it made, waits for a person.
    pub(super) permit: tokio::sync::Mutex<Option<CallPermit>>,
    /// Why the call may not go on after it was parked.
    pub(super) stopped: OnceLock<Failure>,
    /// It was ended while a call that it had made was under way: whose time was used up, nobody knows.
    pub(super) cut_off: Arc<AtomicBool>,
    /// Questions that facades asked in this call and in those that it made.
    pub(super) asked: AtomicUsize,
}

impl Line {
    /// What becomes of it if it does not answer in time.
    pub(super) fn late(&self, asked: Option<Duration>, wall: Duration, limit: Limit) -> Late {
        Late::new(&self.entry, &self.cut_off, asked, wall, limit)
    }

    /// Makes sure that the call may go on, and takes a permit, if another branch of it has not done so already.
    pub(super) async fn come_back(&self) -> Result<(), Failure> {
        let action = &self.entry.surface().actions[self.action].name;
        let said = match self.shared.catalog.slot(self.name()) {
            Some(Slot::Serving(now)) if now.surface().action(action).is_none() => {
                Some(format!("no longer serving `{action}`"))
            }
            Some(Slot::Serving(now)) if self.entry.rules.elicit && !now.rules.elicit => {
                Some("no longer allowed to ask".to_owned())
            }
            Some(Slot::Serving(_)) => None,
            Some(Slot::Unavailable(reason)) => Some(format!("unavailable: {reason}")),
            None => Some("no longer served".to_owned()),
        };
        if let Some(said) = said {
            return Err(Failure::new(code::UNAVAILABLE, format!("`{}` is {said}", self.name())));
        }
        self.take_permit().await
    }

    /// Takes a permit again, if the call has none.
    async fn take_permit(&self) -> Result<(), Failure> {
        let mut permit = self.permit.lock().await;
        if permit.is_none() {
            *permit = Some(match self.depth() {
                0 => self.shared.permits.reacquire_root(&self.entry.flow, self.run.holder()).await?,
                depth => self.shared.permits.nested(depth, self.run.account.as_ref()).await?,
            });
        }
        Ok(())
    }

    /// Takes back the permits that a question has given up which was dropped before it was answered: nobody came back
    /// from it. Whoever has a permit of its own waits for none above it, since those may wait for such as it has.
    pub(super) async fn take_back(&self) -> Result<(), Failure> {
        if self.run.is_parked() || self.permit.lock().await.is_some() {
            return Ok(());
        }
        let mut chain: Vec<&Self> = self.chain().collect();
        while let Some(line) = chain.pop() {
            line.take_permit().await?;
        }
        Ok(())
    }

    /// This call and those above it, outermost last.
    pub(super) fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |line| line.above.as_deref())
    }

    /// How many calls are above this one.
    pub(super) fn depth(&self) -> usize {
        self.chain().count() - 1
    }

    pub(super) fn name(&self) -> &str {
        &self.entry.surface().name
    }
}

/// An id that no other call of this process has.
pub(super) fn next_id() -> CallId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    CallId(format!("c{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}
