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
    pub(super) fn capture(shared: &GateState) -> Self {
        let snapshot = shared.catalog.snapshot();
        let facades = snapshot.serving().map(|entry| {
            let now = Now {
                queued: entry.flow.queued(),
                rests: entry.breaker.state_code(),
                usage: entry.facade.usage(),
            };
            (entry.surface().name.clone(), now)
        });
        let mut census = Self { facades: facades.collect(), ..Self::default() };
        census.unavailable = snapshot.slots.len() - census.facades.len();
        for status in shared.runs.statuses() {
            match status {
                Status::Running => census.running += 1,
                Status::Waiting => census.waiting += 1,
                _ => census.ended += 1,
            }
        }
        census
    }
}
