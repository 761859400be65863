//! Limits on failed logins. A token cannot be guessed; the limit keeps those who try from filling the audit trail.

use std::{
    collections::VecDeque,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use loggia_gate::access::AddressBlock;

/// Time for which a failed login counts.
const WINDOW: Duration = Duration::from_secs(60);
/// Failed logins of one address in that time.
const PER_ADDRESS: usize = 5;
/// Failed logins of all addresses in that time.
const MOST: usize = 50;

/// Failed logins of the last minute, oldest first. The mutex is held for one look.
#[derive(Default)]
pub(super) struct LoginAttempts(Mutex<VecDeque<(Instant, AddressBlock)>>);

impl LoginAttempts {
    /// Returns true if this address may try.
    pub(super) fn may_try(&self, address: IpAddr, now: Instant) -> bool {
        let mut failed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while failed.front().is_some_and(|(at, _)| now.saturating_duration_since(*at) >= WINDOW) {
            failed.pop_front();
        }
        let block = AddressBlock::containing(address);
        failed.len() < MOST && failed.iter().filter(|(_, of)| *of == block).count() < PER_ADDRESS
    }

    /// Counts a failed login.
    pub(super) fn record_failure(&self, address: IpAddr, now: Instant) {
        let mut failed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failed.push_back((now, AddressBlock::containing(address)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_limited_by_address_and_in_all() {
        let (attempts, start) = (LoginAttempts::default(), Instant::now());
        let address = |last: u8| IpAddr::from([10, 0, 0, last]);
        for _ in 0..PER_ADDRESS {
            assert!(attempts.may_try(address(1), start));
            attempts.record_failure(address(1), start);
        }
        assert!(!attempts.may_try(address(1), start) && attempts.may_try(address(2), start));
        for other in 2..=u8::try_from(MOST - PER_ADDRESS + 1).unwrap() {
            attempts.record_failure(address(other), start);
        }
        assert!(!attempts.may_try(address(200), start));
        assert!(attempts.may_try(address(1), start + WINDOW));
    }
}
