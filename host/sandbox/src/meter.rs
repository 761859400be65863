//! Charges a call the CPU time that it takes: of the thread that polls its guest, host calls included, and of the threads
//! on which the host works for it (files, state). Not wall time: a machine that is busy elsewhere must not use up a plugin's
//! budget.

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

use loggia_system::thread::cpu_time;
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn_blocking};

/// CPU time of one call.
///
/// Shared by the future that polls the guest, the callback of the guest's epochs, and work on other threads. Each number
/// stands for itself, so the order of loads and stores does not matter. `began` is written only by the polling thread, and
/// read only by it: the epoch callback runs inside the poll.
pub(crate) struct CpuMeter {
    /// Nanoseconds of completed polls and of completed work on other threads.
    spent: AtomicU64,
    /// CPU clock of the polling thread at the start of the current poll.
    began: AtomicU64,
    budget: u64,
}

impl CpuMeter {
    pub(crate) fn new(budget: Duration) -> Arc<Self> {
        let budget = u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX);
        Arc::new(Self { spent: AtomicU64::new(0), began: AtomicU64::new(0), budget })
    }

    /// Returns, from within a poll, its nanoseconds so far.
    pub(crate) fn slice(&self) -> u64 {
        cpu_time().saturating_sub(self.began.load(Ordering::Relaxed))
    }

    /// Tests, from within a poll, whether the budget is used up.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Relaxed).saturating_add(self.slice()) > self.budget
    }

    /// Returns the nanoseconds of completed polls and of completed work on other threads.
    pub(crate) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Runs work for the call on a thread that may block, and charges the call for its CPU time there. Dropping the handle
    /// cancels work that has not begun.
    pub(crate) fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> AbortOnDropJoinHandle<T> {
        let meter = Arc::clone(self);
        spawn_blocking(move || {
            let began = cpu_time();
            let done = work();
            meter.spent.fetch_add(cpu_time().saturating_sub(began), Ordering::Relaxed);
            done
        })
    }

    fn begin(&self) {
        self.began.store(cpu_time(), Ordering::Relaxed);
    }

    /// Ends a poll; true while the budget lasts.
    fn end(&self) -> bool {
        let slice = self.slice();
        self.spent.fetch_add(slice, Ordering::Relaxed).saturating_add(slice) <= self.budget
    }
}

/// The budget was used up outside the guest's own code, where no trap reports it.
pub(crate) struct BudgetSpent;

/// Polls a guest and charges each poll to its meter.
pub(crate) struct MeteredFuture<F> {
    pub meter: Arc<CpuMeter>,
    pub future: Pin<Box<F>>,
}

impl<F: Future> Future for MeteredFuture<F> {
    type Output = Result<F::Output, BudgetSpent>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.meter.begin();
        let polled = self.future.as_mut().poll(context);
        match (polled, self.meter.end()) {
            (Poll::Ready(output), _) => Poll::Ready(Ok(output)),
            (Poll::Pending, true) => Poll::Pending,
            (Poll::Pending, false) => Poll::Ready(Err(BudgetSpent)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_on_another_thread_is_charged_by_its_cpu_time() {
        let meter = CpuMeter::new(Duration::from_millis(20));
        meter.run_blocking(|| std::thread::sleep(Duration::from_millis(40))).await;
        assert!(!meter.is_spent(), "waiting is free: {}", meter.spent());
        let computes = || {
            let began = cpu_time();
            while cpu_time() - began < 40_000_000 {}
        };
        meter.run_blocking(computes).await;
        assert!(meter.is_spent() && meter.spent() >= 40_000_000, "{}", meter.spent());
    }
}
