//! When a request may be sent again: what the headers say.

use http::{HeaderMap, header};

/// The longest wait that is passed on: a day.
const LONGEST_MS: u64 = 24 * 60 * 60 * 1000;

/// Milliseconds until a request may be sent again. Times are measured by the server's own clock, its `date`.
pub(super) fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let now = text(header::DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok());
    let until =
        |then: std::time::SystemTime| Some(then.duration_since(now?).map_or(0, |wait| wait.as_secs()));
    let seconds = match text(header::RETRY_AFTER.as_str()) {
        Some(wait) => match wait.parse::<u64>() {
            Ok(seconds) => Some(seconds),
            Err(_) => httpdate::parse_http_date(wait).ok().and_then(until),
        },
        None if is_exhausted(headers) => {
            let reset = ["x-ratelimit-reset", "ratelimit-reset", "x-rate-limit-reset"];
            let reset: u64 = reset.iter().find_map(|name| text(name)?.parse().ok())?;
            // Some servers say a time, others a number of seconds.
            if reset < 1_000_000_000 {
                Some(reset)
            } else {
                until(std::time::UNIX_EPOCH.checked_add(std::time::Duration::from_secs(reset))?)
            }
        }
        None => None,
    };
    seconds.map(|seconds| seconds.saturating_mul(1000).min(LONGEST_MS))
}

/// Whether a rate limit is used up.
pub(super) fn is_exhausted(headers: &HeaderMap) -> bool {
    ["x-ratelimit-remaining", "ratelimit-remaining", "x-rate-limit-remaining"]
        .iter()
        .any(|name| headers.get(*name).is_some_and(|value| value.as_bytes().trim_ascii() == b"0"))
}
