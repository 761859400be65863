//! Time for which a call waits for a person.

use std::time::Duration;

use tokio::time::Instant;

/// Time during which the call was parked. Runs while any branch of the call waits for a person.
#[derive(Default)]
pub(super) struct ParkedClock {
    pub parked_branches: usize,
    pub parked_since: Option<Instant>,
    pub parked_total: Duration,
}

impl ParkedClock {
    pub(super) fn parked_time(&self, now: Instant) -> Duration {
        self.parked_total
            + self.parked_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }
}
