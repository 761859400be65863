//! What the audit trail is told of callers who are refused because of who they are: the first few of each kind in a minute by
//! themselves, further ones by their number, so that a flood of them cannot fill a disk.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use axum::http::HeaderMap;
use loggia_gate::call::{TARGET as AUDIT, is_on as is_audited};
use tokio::time::Instant;

use super::request_id;
use crate::serve::auth::AuthRefusal;

/// How many of one kind are told by themselves …
const FIRST: u64 = 20;
/// … within this time. Of further ones every tenth power is told.
const WINDOW: Duration = Duration::from_secs(60);

/// Counts the failures of each kind.
#[derive(Default)]
pub struct AuthFailureLog(Mutex<BTreeMap<&'static str, FailureCount>>);

struct FailureCount {
    since: Instant,
    failures: u64,
}

/// What is told of one failure.
#[derive(Debug, PartialEq, Eq)]
struct LogDecision {
    /// How many there were of its kind, this one included, since the window began; none where it is only counted.
    number: Option<u64>,
    /// How many there were in the window before, where not all of them were told.
    before: Option<u64>,
}

impl AuthFailureLog {
    /// Tells of a refusal, if it is not one too many.
    pub fn record(&self, refusal: &AuthRefusal, address: Option<IpAddr>, headers: &HeaderMap) {
        if !is_audited() {
            return;
        }
        let (reason, kind) = (refusal.reason(), refusal.reason().label());
        let LogDecision { number, before } = self.count(kind, Instant::now());
        if let Some(count) = before {
            tracing::debug!(
                target: AUDIT,
                event = "authentication", outcome = kind, count,
                "not authenticated: {count} times in the minute before"
            );
        }
        if let Some(count) = number {
            let request = request_id::read(headers);
            let address = address.map(tracing::field::display);
            tracing::debug!(
                target: AUDIT,
                event = "authentication", request, address, outcome = kind, count,
                "not authenticated: {reason}"
            );
        }
    }

    fn count(&self, kind: &'static str, now: Instant) -> LogDecision {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = kinds.entry(kind).or_insert(FailureCount { since: now, failures: 0 });
        let mut before = None;
        if now.saturating_duration_since(count.since) >= WINDOW {
            before = Some(count.failures).filter(|failures| *failures > FIRST);
            *count = FailureCount { since: now, failures: 0 };
        }
        count.failures += 1;
        let is_mark = count.failures >= 100 && 10_u64.pow(count.failures.ilog10()) == count.failures;
        LogDecision { number: Some(count.failures).filter(|number| *number <= FIRST || is_mark), before }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_logs_few_lines_and_counts() {
        let (failures, now) = (AuthFailureLog::default(), Instant::now());
        let told: Vec<u64> = (0..12_345).filter_map(|_| failures.count("missing", now).number).collect();
        let first = 1..=FIRST;
        assert_eq!(told, first.chain([100, 1_000, 10_000]).collect::<Vec<_>>());
        let other = failures.count("invalid_token", now);
        assert_eq!(other, LogDecision { number: Some(1), before: None }, "each kind by itself");
        let later = failures.count("missing", now + WINDOW);
        assert_eq!(later, LogDecision { number: Some(1), before: Some(12_345) });
        let quiet = failures.count("missing", now + WINDOW * 3);
        assert_eq!(quiet, LogDecision { number: Some(1), before: None }, "all of it was told");
    }
}
