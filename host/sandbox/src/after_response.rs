//! Work that can wait until a response was sent: a caller need not wait for what its call leaves behind.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::task::JoinHandle;

/// Lets one call at a time leave work behind: more would hold instances that calls need.
pub(crate) struct AfterResponse {
    is_enabled: bool,
    /// Set while a call has left work behind.
    is_taken: Arc<AtomicBool>,
}

/// Permission to leave work behind.
pub(crate) struct WorkPermit(Arc<AtomicBool>);

impl AfterResponse {
    pub(crate) fn new(is_enabled: bool) -> Self {
        Self { is_enabled, is_taken: Arc::default() }
    }

    /// Permits work to be left behind, unless a call has left some.
    pub(crate) fn permit(&self) -> Option<WorkPermit> {
        (self.is_enabled && !self.is_taken.swap(true, Ordering::Acquire))
            .then(|| WorkPermit(Arc::clone(&self.is_taken)))
    }
}

impl WorkPermit {
    /// Leaves work behind. The runtime runs it on this thread when the task that answers the call waits for the next one.
    pub(crate) fn spawn(self, work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        tokio::spawn(async move {
            work.await;
            drop(self);
        })
    }
}

impl Drop for WorkPermit {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_call_at_a_time_leaves_work_behind() {
        let calls = AfterResponse::new(true);
        let permit = calls.permit().unwrap();
        assert!(calls.permit().is_none());
        permit.spawn(async {}).await.unwrap();
        let permit = calls.permit().unwrap();
        assert!(permit.spawn(async { panic!("the work fails") }).await.is_err());
        assert!(calls.permit().is_some());
    }

    #[test]
    fn nothing_is_left_unless_responses_come_first() {
        assert!(AfterResponse::new(false).permit().is_none());
    }
}
