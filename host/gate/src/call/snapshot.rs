//! What the gate holds at one moment, for whoever runs the host: counted when somebody asks, so that calls need not.

use loggia_facade::Usage;

use super::gate_state::GateState;
use crate::run::Status;

/// What a gate holds now.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Census {
    /// The facades that answer calls, by name.
    pub facades: Vec<(String, Now)>,
    /// Names that answer `unavailable`.
    pub unavailable: usize,
    /// Runs that compute or wait for something.
    pub running: usize,
    /// Runs that wait for a person.
    pub waiting: usize,
    /// Runs whose outcome is kept.
    pub ended: usize,
}

/// How one facade stands.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Now {
    /// Calls that wait for their turn.
    pub queued: usize,
    /// 0: its calls run. 1: it has rested, and one call is tried. 2: it rests.
    pub rests: u64,
    /// What its calls have used since this version serves.
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
