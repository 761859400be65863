//! How long to wait before the next start of an upstream.

use std::time::Duration;

/// A connection that lived this long is no failed start.
const STABLE: Duration = Duration::from_secs(10);
/// The wait after the second failure in a row; each further one doubles it.
const FIRST: Duration = Duration::from_millis(500);
/// The longest wait: a corrected upstream is back within a minute.
const LONGEST: Duration = Duration::from_secs(60);

/// Counts failures in a row.
#[derive(Debug, Clone, Default)]
pub(super) struct RestartBackoff {
    failures: u32,
}

impl RestartBackoff {
    /// The wait after a connection that lived this long; zero if it never opened. The first failure costs no wait, so that a
    /// single crash costs one call.
    pub(super) fn after_end(&mut self, lived: Duration) -> Duration {
        self.failures = if lived >= STABLE { 1 } else { self.failures.saturating_add(1) };
        match self.failures {
            1 => Duration::ZERO,
            failures => FIRST.saturating_mul(1 << (failures - 2).min(16)).min(LONGEST),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute() {
        let mut backoff = RestartBackoff::default();
        let waits: Vec<_> = (0..11).map(|_| backoff.after_end(Duration::ZERO).as_millis()).collect();
        assert_eq!(waits, [0, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
        assert_eq!(backoff.after_end(STABLE), Duration::ZERO);
        assert_eq!(backoff.after_end(Duration::from_secs(1)), FIRST);
        backoff.failures = u32::MAX;
        assert_eq!(backoff.after_end(Duration::ZERO), LONGEST);
    }
}
