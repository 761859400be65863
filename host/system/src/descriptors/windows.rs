//! Handles are limited by memory alone.

use std::io;

/// Returns `None`: there is no limit of a process.
pub fn limit() -> Option<u64> {
    None
}

/// Does nothing.
///
/// # Errors
///
/// None.
pub fn raise_limit() -> io::Result<()> {
    Ok(())
}
