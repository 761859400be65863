//! Queues, breakers and runs at one moment, for metrics. Collected on request, so calls pay nothing for it.

use loggia_facade::Usage;

use super::gate_state::GateState;
use crate::run::Status;

/// State of a gate at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Census {
    /// Facades that answer calls, by name.
    pub facades: Vec<(String, Now)>,
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
pub struct Now {
    /// Calls that wait for a permit.
    pub queued: usize,
    /// State of its breaker. 0: closed. 1: half-open, one call is tried. 2: open.
    pub rests: u64,
    /// Resources that its calls used since this version was loaded.
    pub usage: Usage,
}

impl Census {
    pub(super) fn capture(gate: &GateState) -> Self {
        let snapshot = gate.catalog.snapshot();
        let facades = snapshot.serving().map(|entry| {
            let status = Now {
                queued: entry.flow.queued(),
                rests: entry.breaker.state_code(),
                usage: entry.facade.usage(),
            };
            (entry.surface().name.clone(), status)
        });
        let mut captured = Self { facades: facades.collect(), ..Self::default() };
        captured.unavailable = snapshot.slots.len() - captured.facades.len();
        for status in gate.runs.statuses() {
            match status {
                Status::Running => captured.running += 1,
                Status::Waiting => captured.waiting += 1,
                _ => captured.ended += 1,
            }
        }
        captured
    }
}
