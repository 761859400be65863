//! Time that a stopped call has to undo what it has done.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, timeout_at};

/// Time that a cancelled call has to end by itself before it is dropped.
const CANCEL_GRACE: Duration = Duration::from_millis(250);

/// End of the time for which a call cleans up, once it does. Locked to read or extend it.
#[derive(Default)]
pub(crate) struct CleanupTime(Mutex<Option<Instant>>);

impl CleanupTime {
    /// Lets the call go on until then, or longer if that was allowed before.
    pub(crate) fn extend(&self, until: Instant) {
        let mut time = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *time = (*time).max(Some(until));
    }

    /// End of the time, if the call cleans up.
    pub(crate) fn until(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a stopped call has ended: for a moment, and longer if it cleans up. `None` if it is to be dropped.
    pub(crate) async fn finish<C: Future + Unpin>(&self, mut call: C) -> Option<C::Output> {
        let mut until = Instant::now() + CANCEL_GRACE;
        loop {
            if let Ok(output) = timeout_at(until, &mut call).await {
                return Some(output);
            }
            until = self.until().filter(|later| *later > until)?;
        }
    }
}
