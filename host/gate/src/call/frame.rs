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

use super::{gate_state::GateState, timeout::WallTimeout};
use crate::{
    catalog::{Entry, Slot},
    flow::CallPermit,
    run::CallState,
};

/// One call as its facade sees it.
pub(super) struct CallFrame {
    pub(super) id: CallId,
    pub(super) gate: Arc<GateState>,
    pub(super) state: Arc<CallState>,
    pub(super) entry: Arc<Entry>,
    pub(super) action: usize,
    /// When the call's own clock ends, in the terms of [`Run::due`].
    pub(super) due: Instant,
    /// The call that made this one.
    pub(super) parent: Option<Arc<CallFrame>>,
    /// The right to run; given up while the call, or one that it made, waits for a person.
    pub(super) permit: tokio::sync::Mutex<Option<CallPermit>>,
    /// Why the call may not go on after it was parked.
    pub(super) stop_reason: OnceLock<Failure>,
    /// It was ended while a call that it had made was under way: whose time was used up, nobody knows.
    pub(super) nested_interrupted: Arc<AtomicBool>,
    /// Questions that facades asked in this call and in those that it made.
    pub(super) questions_asked: AtomicUsize,
}

impl CallFrame {
    /// What becomes of it if it does not answer in time.
    pub(super) fn wall_timeout(&self, asked: Option<Duration>, wall: Duration, limit: Limit) -> WallTimeout {
        WallTimeout::new(&self.entry, &self.nested_interrupted, asked, wall, limit)
    }

    /// Makes sure that the call may go on, and takes a permit, if another branch of it has not done so already.
    pub(super) async fn resume(&self) -> Result<(), Failure> {
        let action = &self.entry.surface().actions[self.action].name;
        let reason = match self.gate.catalog.slot(self.name()) {
            Some(Slot::Serving(current)) if current.surface().action(action).is_none() => {
                Some(format!("no longer serving `{action}`"))
            }
            Some(Slot::Serving(current)) if self.entry.rules.elicit && !current.rules.elicit => {
                Some("no longer allowed to ask".to_owned())
            }
            Some(Slot::Serving(_)) => None,
            Some(Slot::Unavailable(reason)) => Some(format!("unavailable: {reason}")),
            None => Some("no longer served".to_owned()),
        };
        if let Some(reason) = reason {
            return Err(Failure::new(code::UNAVAILABLE, format!("`{}` is {reason}", self.name())));
        }
        self.ensure_permit().await
    }

    /// Takes a permit again, if the call has none.
    async fn ensure_permit(&self) -> Result<(), Failure> {
        let mut permit = self.permit.lock().await;
        if permit.is_none() {
            *permit = Some(match self.depth() {
                0 => self.gate.permits.reacquire_root(&self.entry.flow, self.state.permit_holder()).await?,
                depth => self.gate.permits.acquire_nested(depth, self.state.account.as_ref()).await?,
            });
        }
        Ok(())
    }

    /// Takes back the permits that a question has given up which was dropped before it was answered: nobody came back
    /// from it. Whoever has a permit of its own waits for none above it, since those may wait for such as it has.
    pub(super) async fn reclaim_permits(&self) -> Result<(), Failure> {
        if self.state.is_parked() || self.permit.lock().await.is_some() {
            return Ok(());
        }
        let mut chain: Vec<&Self> = self.frames().collect();
        while let Some(frame) = chain.pop() {
            frame.ensure_permit().await?;
        }
        Ok(())
    }

    /// This call and those above it, outermost last.
    pub(super) fn frames(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |frame| frame.parent.as_deref())
    }

    /// How many calls are above this one.
    pub(super) fn depth(&self) -> usize {
        self.frames().count() - 1
    }

    pub(super) fn name(&self) -> &str {
        &self.entry.surface().name
    }
}

/// An id that no other call of this process has.
pub(super) fn next_call_id() -> CallId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    CallId(format!("c{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}
