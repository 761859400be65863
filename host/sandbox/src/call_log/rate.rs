//! The rate at which a plugin may log.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Lines that a plugin may log in a second, over all of its calls: a plugin that floods the log would hide others' lines.
pub(super) struct LogRate {
    max: u32,
    /// Start of the second that is being counted, and its lines. Locked for a comparison and an addition; nothing else is
    /// locked meanwhile.
    window: Mutex<(Instant, u32)>,
}

impl LogRate {
    pub(super) fn new(max: u32) -> Self {
        Self { max, window: Mutex::new((Instant::now(), 0)) }
    }

    /// Counts one line; false if there were too many in this second.
    pub(super) fn admit_line(&self) -> bool {
        let mut window = self.window.lock();
        if window.0.elapsed() >= Duration::from_secs(1) {
            *window = (Instant::now(), 0);
        }
        window.1 += 1;
        window.1 <= self.max
    }
}
