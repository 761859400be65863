//! Wall-clock timeouts and their attribution.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use loggia_facade::{Failure, Fault, FaultKind, Limit};
use loggia_text::units;

use super::fault_log::log_fault;
use crate::catalog::CatalogEntry;

/// Timeout of one call: which clock ran out, and whether the facade is charged with a fault.
pub(super) struct WallTimeout {
    entry: Arc<CatalogEntry>,
    nested_interrupted: Arc<AtomicBool>,
    /// Length of the clock that ran out.
    clock: Duration,
    /// Limit that the operator can raise. `None` where the caller asked for a shorter clock.
    limit: Option<Limit>,
}

impl WallTimeout {
    /// Takes the shorter of the wall clock of the policy and that of the request.
    pub(super) fn new(
        entry: &Arc<CatalogEntry>,
        nested_interrupted: &Arc<AtomicBool>,
        asked: Option<Duration>,
        wall: Duration,
        limit: Limit,
    ) -> Self {
        let asked = asked.filter(|asked| *asked < wall);
        Self {
            entry: Arc::clone(entry),
            nested_interrupted: Arc::clone(nested_interrupted),
            clock: asked.unwrap_or(wall),
            limit: asked.is_none().then_some(limit),
        }
    }

    /// Renders the failure, after the clock ran out. Counts a fault if it is the facade's own.
    pub(super) fn into_failure(self) -> Failure {
        let Self { entry, nested_interrupted, clock, limit } = self;
        let facade = entry.surface().name.clone();
        let message =
            format!("timed out: `{facade}` did not answer within {}", units::format_duration(clock));
        let fault = Fault { limit, ..Fault::new(FaultKind::Wall, facade, message) };
        // A caller that asks for a short clock must neither open the breaker nor fill the log.
        if fault.limit.is_some() {
            log_fault(&fault);
            if !nested_interrupted.load(Ordering::Relaxed) {
                entry.breaker.record_fault(&fault);
            }
        }
        Failure::from(&fault)
    }
}

/// Marks the calling frame if a nested call is dropped before it ended.
pub(super) struct NestedCallGuard(Option<Arc<AtomicBool>>);

impl NestedCallGuard {
    /// Starts a nested call.
    pub(super) fn new(nested_interrupted: &Arc<AtomicBool>) -> Self {
        Self(Some(Arc::clone(nested_interrupted)))
    }

    /// Ends the nested call without a mark.
    pub(super) fn finish(mut self) {
        self.0 = None;
    }
}

impl Drop for NestedCallGuard {
    fn drop(&mut self) {
        if let Some(nested_interrupted) = &self.0 {
            nested_interrupted.store(true, Ordering::Relaxed);
        }
    }
}
