//! The state that all calls of a gate share.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use loggia_facade::{Failure, trace::SpanRecorder};

use super::call_trail::CallTrail;
use crate::{
    approval::ApprovalDesk,
    catalog::Catalog,
    failures::unavailable,
    flow::{CallerQuotas, GateMeters, PermitPools, UnfinishedCalls},
    guard::GuardRoster,
    journal::Journal,
    results::KeptResults,
    run::{ParkedCalls, RunRegistry},
    schedule::Executor,
};

/// State that all calls of a gate share. Each part has locks or atomics of its own, never held across an await. The only
/// nested locks are those of a single call's state, which [`ParkedCalls`] and [`RunRegistry`] take under their own; no
/// code takes another lock under a call's state, so they cannot deadlock.
pub(crate) struct GateState {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) executor: Executor,
    pub(crate) permits: PermitPools,
    pub(crate) parked: ParkedCalls,
    pub(crate) runs: RunRegistry,
    pub(crate) unfinished: UnfinishedCalls,
    /// Limits on what one caller may leave unfinished.
    pub(crate) quotas: CallerQuotas,
    pub(crate) meters: Arc<GateMeters>,
    /// Set once, at shutdown: no further call starts, and durable runs are left to the next start. Relaxed, since a call that
    /// starts at the same moment is drained like any other.
    pub(crate) draining: Arc<AtomicBool>,
    /// Results that were cut.
    pub(crate) kept: Arc<KeptResults>,
    /// Records runs that survive the host, if it has a journal.
    pub(crate) journal: Option<Arc<dyn Journal>>,
    /// Approvals of people whom clients cannot ask, if the host keeps any.
    pub(crate) approvals: Option<Arc<ApprovalDesk>>,
    /// What looks at calls, if the host has guards.
    pub(crate) guards: Option<Arc<GuardRoster>>,
    /// Set while calls are refused, since the audit trail cannot be written.
    pub(crate) unaudited: Option<Arc<AtomicBool>>,
    /// The audit trail of calls that ran, if there is one.
    pub(crate) trail: Option<Arc<dyn CallTrail>>,
    /// Records spans, if anything does.
    pub(crate) spans: Option<Arc<dyn SpanRecorder>>,
}

impl GateState {
    /// Why no call may start now.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        if self.draining.load(Ordering::Relaxed) {
            return Some(unavailable("the server is shutting down"));
        }
        self.unaudited_failure()
    }

    /// Why no call may start, also by itself, while the audit trail cannot be written.
    pub(crate) fn unaudited_failure(&self) -> Option<Failure> {
        let is_unaudited = self.unaudited.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        let failure = is_unaudited.then(|| unavailable("the server cannot write its audit trail"));
        failure.map(|failure| failure.hint("try again later; the log of the server has the reason"))
    }
}
