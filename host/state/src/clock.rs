//! The clock by which entries expire.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// Returns the time in milliseconds since 1970.
pub type StateClock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Reads the machine's clock.
pub(crate) fn system_time() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
