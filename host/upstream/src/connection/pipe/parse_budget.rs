//! How much is parsed on the I/O runtime.

use std::time::Duration;

use tokio::time::Instant;

/// Bytes of a message that is parsed at once: some 100 µs.
const SHORT: usize = 16 * 1024;
/// Bytes that are parsed at once within a [`WINDOW`]: about a tenth of a thread.
const BUDGET: usize = 1024 * 1024;
/// Window of [`BUDGET`].
const WINDOW: Duration = Duration::from_millis(100);

/// Budget of one connection. An upstream that sends more than it allows must not slow down the clients, whose threads the
/// I/O runtime has.
pub(super) struct ParseBudget {
    begun: Instant,
    used: usize,
}

impl ParseBudget {
    pub(super) fn new() -> Self {
        Self { begun: Instant::now(), used: 0 }
    }

    /// Whether a message of so many bytes may be parsed on the I/O runtime. Charges it if so.
    pub(super) fn charge(&mut self, bytes: usize) -> bool {
        let now = Instant::now();
        if now.duration_since(self.begun) > WINDOW {
            *self = Self { begun: now, used: 0 };
        }
        let is_affordable = bytes <= SHORT && self.used + bytes <= BUDGET;
        if is_affordable {
            self.used += bytes;
        }
        is_affordable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn long_and_many_messages_are_not_affordable() {
        let mut budget = ParseBudget::new();
        assert!(budget.charge(SHORT) && !budget.charge(SHORT + 1));
        let rest = (BUDGET - SHORT) / SHORT;
        assert!((0..rest).all(|_| budget.charge(SHORT)));
        assert!(!budget.charge(1));
        tokio::time::advance(WINDOW + Duration::from_millis(1)).await;
        assert!(budget.charge(SHORT));
    }
}
