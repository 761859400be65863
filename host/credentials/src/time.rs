//! The time, as it is stored.

use std::time::SystemTime;

/// Seconds since 1970 (UTC).
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}
