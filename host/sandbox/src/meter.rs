//! Charges a call the CPU time that it takes: of the thread that polls its guest, host calls included, and of the threads
//! on which the host works for it (files, state).

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn_blocking};

/// Shared by the future that polls the guest, the callback that the guest's epochs reach, and work on other threads. Each
/// number stands for itself, so the order of loads and stores does not matter.
pub(crate) struct Meter {
    /// Nanoseconds of all polls and of all work on other threads that have ended.
    spent: AtomicU64,
    /// What the polling thread's clock said when this poll began.
    began: AtomicU64,
    budget: u64,
}

impl Meter {
    pub fn new(budget: Duration) -> Arc<Self> {
        let budget = u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX);
        Arc::new(Self { spent: AtomicU64::new(0), began: AtomicU64::new(0), budget })
    }

    /// From within a poll: whether the budget is used up.
    pub fn is_spent(&self) -> bool {
        let slice = thread_time().saturating_sub(self.began.load(Ordering::Relaxed));
        self.spent.load(Ordering::Relaxed).saturating_add(slice) > self.budget
    }

    /// Nanoseconds of all polls, and of all work on other threads, that have ended.
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Does something for the call on a thread that may block, and charges the call for the CPU time it takes there.
    /// Dropping the handle cancels what has not begun.
    pub fn away<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> AbortOnDropJoinHandle<T> {
        let meter = Arc::clone(self);
        spawn_blocking(move || {
            let began = thread_time();
            let done = work();
            meter.spent.fetch_add(thread_time().saturating_sub(began), Ordering::Relaxed);
            done
        })
    }

    fn begin(&self) {
        self.began.store(thread_time(), Ordering::Relaxed);
    }

    /// Whether the budget still holds.
    fn end(&self) -> bool {
        let slice = thread_time().saturating_sub(self.began.load(Ordering::Relaxed));
        self.spent.fetch_add(slice, Ordering::Relaxed).saturating_add(slice) <= self.budget
    }
}

/// Nanoseconds that the current thread has run. Not the wall's: a machine that is busy elsewhere must not use up a
/// plugin's budget.
fn thread_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// The budget was used up while the guest was not running its own code, so that no trap could tell.
pub(crate) struct Spent;

/// Polls a guest and charges each poll to its meter.
pub(crate) struct Metered<F> {
    pub meter: Arc<Meter>,
    pub future: Pin<Box<F>>,
}

impl<F: Future> Future for Metered<F> {
    type Output = Result<F::Output, Spent>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.meter.begin();
        let polled = self.future.as_mut().poll(context);
        match (polled, self.meter.end()) {
            (Poll::Ready(output), _) => Poll::Ready(Ok(output)),
            (Poll::Pending, true) => Poll::Pending,
            (Poll::Pending, false) => Poll::Ready(Err(Spent)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_on_another_thread_is_charged_by_its_cpu_time() {
        let meter = Meter::new(Duration::from_millis(20));
        meter.away(|| std::thread::sleep(Duration::from_millis(40))).await;
        assert!(!meter.is_spent(), "waiting is free: {}", meter.spent());
        let computes = || {
            let began = thread_time();
            while thread_time() - began < 40_000_000 {}
        };
        meter.away(computes).await;
        assert!(meter.is_spent() && meter.spent() >= 40_000_000, "{}", meter.spent());
    }
}
