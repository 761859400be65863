//! One guard, as it is loaded now.

use std::{fmt, sync::Arc, time::Duration};

use loggia_facade::{CallGuard, ScopeKey};
use tokio::sync::watch;

use super::{
    look::{GuardLook, LookCounters},
    rule::GuardRule,
};
use crate::access::{Caller, CallerKeys};

/// Time that a call waits for a guard that is being loaded for the first time.
const PATIENCE: Duration = Duration::from_secs(8);

/// State of a guard.
#[derive(Clone)]
pub enum GuardState {
    /// It is loaded for the first time.
    Loading,
    /// It looks at calls.
    Ready(Arc<dyn CallGuard>),
    /// It cannot be used, and no call that it would look at is made. The reason is in the log.
    Failed,
}

/// A guard with its rule. Calls read its state; only what loads it changes it.
pub struct GuardPost {
    /// Which calls it looks at.
    pub rule: GuardRule,
    /// Keys by which it knows callers, if the operator grants that.
    caller_keys: Option<CallerKeys>,
    /// The sender never waits; calls wait for the end of [`GuardState::Loading`], for at most [`PATIENCE`].
    state: watch::Sender<GuardState>,
    looks: LookCounters,
}

impl GuardPost {
    /// Creates a guard that is still to be loaded.
    pub fn new(rule: GuardRule, caller_keys: Option<CallerKeys>) -> Self {
        let state = watch::Sender::new(GuardState::Loading);
        Self { rule, caller_keys, state, looks: LookCounters::default() }
    }

    /// Changes its state, for calls that have not asked it yet.
    pub fn set(&self, state: GuardState) {
        self.state.send_replace(state);
    }

    /// Its state now.
    pub fn state(&self) -> GuardState {
        self.state.borrow().clone()
    }

    /// Counts a look.
    pub(crate) fn record(&self, look: GuardLook) {
        self.looks.record(look);
    }

    /// Looks since the start, by their end.
    pub fn looks(&self) -> impl Iterator<Item = (GuardLook, u64)> {
        self.looks.counts().into_iter()
    }

    /// Returns the guard, once it is loaded; `None` if it cannot be used.
    pub(crate) async fn guard(&self) -> Option<Arc<dyn CallGuard>> {
        let mut states = self.state.subscribe();
        let loaded = states.wait_for(|state| !matches!(state, GuardState::Loading));
        match tokio::time::timeout(PATIENCE, loaded).await.ok()?.ok()?.clone() {
            GuardState::Ready(guard) => Some(guard),
            GuardState::Loading | GuardState::Failed => None,
        }
    }

    /// Key by which it knows a caller.
    pub(crate) fn scope_of(&self, caller: &Caller) -> Option<ScopeKey> {
        // A guard is no facade, so its callers have other keys than those of a facade of the same name.
        self.caller_keys.as_ref()?.key_for(caller, &format!("[guard] {}", self.rule.name))
    }
}

impl fmt::Debug for GuardPost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rule.fmt(f)
    }
}
