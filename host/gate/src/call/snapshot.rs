//! Queues, breakers and runs at one moment, for metrics. Collected on request, so calls pay nothing for it.

use loggia_facade::Usage;

use super::gate_state::GateState;
use crate::run::RunStatus;

/// State of a gate at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GateSnapshot {
    /// Facades that answer calls, by name.
    pub facades: Vec<(String, FacadeStatus)>,
    /// Names that answer `unavailable`.
    pub unavailable: usize,
    /// Runs that are computing or waiting for I/O.
    pub running: usize,
    /// Runs that wait for a person.
    pub waiting: usize,
    /// Ended runs whose outcome is kept.
    pub ended: usize,
}

/// State of one facade at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FacadeStatus {
    /// Calls that wait for a permit.
    pub queued: usize,
    /// State of its breaker. 0: closed. 1: half-open, one call is tried. 2: open.
    pub breaker: u64,
    /// Resources that its calls used since this version was loaded.
    pub usage: Usage,
}

impl GateSnapshot {
    pub(super) fn capture(gate: &GateState) -> Self {
        let snapshot = gate.catalog.snapshot();
        let facades = snapshot.serving().map(|entry| {
            let status = FacadeStatus {
                queued: entry.flow.queued(),
                breaker: entry.breaker.state_code(),
                usage: entry.facade.usage(),
            };
            (entry.surface().name.clone(), status)
        });
        let mut captured = Self { facades: facades.collect(), ..Self::default() };
        captured.unavailable = snapshot.slots.len() - captured.facades.len();
        for status in gate.runs.statuses() {
            match status {
                RunStatus::Running => captured.running += 1,
                RunStatus::Waiting => captured.waiting += 1,
                _ => captured.ended += 1,
            }
        }
        captured
    }
}
