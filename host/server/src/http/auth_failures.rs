//! Records failed authentications in the audit trail: the first few of each kind in a minute individually, further ones as
//! counts, so that a flood cannot fill the disk.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use axum::http::HeaderMap;
use loggia_gate::call::{TARGET as AUDIT, is_enabled as is_audited};
use tokio::time::Instant;

use super::request_id;
use crate::auth::AuthRefusal;

/// Number of failures of one kind that are recorded individually …
const FIRST: u64 = 20;
/// … within this time. After that, only powers of ten are recorded.
const WINDOW: Duration = Duration::from_secs(60);

/// Counts the failures of each kind.
#[derive(Default)]
pub struct AuthFailureLog(Mutex<BTreeMap<&'static str, FailureCount>>);

struct FailureCount {
    since: Instant,
    failures: u64,
}

/// Decision on how to record one failure.
#[derive(Debug, PartialEq, Eq)]
struct LogDecision {
    /// Number of failures of its kind in this window; `None` if this one is only counted.
    number: Option<u64>,
    /// Number in the previous window, if not all of them were recorded.
    before: Option<u64>,
}

impl AuthFailureLog {
    /// Records a refusal, within the limits.
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
                "not authenticated: {count} times in the previous window"
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
        let recorded: Vec<u64> = (0..12_345).filter_map(|_| failures.count("missing", now).number).collect();
        let first = 1..=FIRST;
        assert_eq!(recorded, first.chain([100, 1_000, 10_000]).collect::<Vec<_>>());
        let other = failures.count("invalid_token", now);
        assert_eq!(other, LogDecision { number: Some(1), before: None }, "each kind by itself");
        let later = failures.count("missing", now + WINDOW);
        assert_eq!(later, LogDecision { number: Some(1), before: Some(12_345) });
        let quiet = failures.count("missing", now + WINDOW * 3);
        assert_eq!(quiet, LogDecision { number: Some(1), before: None }, "all of them were recorded");
    }
}
