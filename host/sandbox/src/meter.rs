//! Charges a call the CPU time that it takes: of the thread that polls its guest, host calls included, and of the threads
//! on which the host works for it (files, state). Not wall time: a machine that is busy elsewhere must not use up a plugin's
//! budget.
//!
//! The CPU clock of a thread is a system call, so a short poll is charged what it lasts. A longer one is charged no more than what its
//! thread has computed since the clock was read last, before the poll: what lies between is at most [`MAX_AGE`] of the host's own work. Where
//! the clock advances in steps, it is read at the beginning and the end of each poll, and what it has advanced is charged: steps even out over polls.

use std::{
    cell::Cell,
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use loggia_system::thread::{HAS_EXACT_CPU_TIME, cpu_time};
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn_blocking};

/// Nanoseconds below which a poll is charged what it lasts, while the last reading of its thread's CPU clock is no older than
/// [`MAX_AGE`].
const SHORT: u64 = 50_000;
/// Age at which a reading is replaced.
const MAX_AGE: Duration = Duration::from_millis(1);

thread_local! {
    /// The last reading of this thread's CPU clock, in nanoseconds, and when that was.
    static READING: Cell<Option<(u64, Instant)>> = const { Cell::new(None) };
}

/// CPU time of one call.
///
/// Shared by the future that polls the guest, the callback of the guest's epochs, and work on other threads. Each number
/// stands for itself, so the order of loads and stores does not matter. `began` and `earlier` are written only by the polling
/// thread, and read only by it: the epoch callback runs inside the poll.
pub(crate) struct CpuMeter {
    created: Instant,
    /// Nanoseconds of completed polls and of completed work on other threads.
    spent: AtomicU64,
    /// Start of the current poll, in nanoseconds since `created`.
    began: AtomicU64,
    /// CPU clock of the polling thread at some time before the current poll. Polls within it take readings of their own.
    earlier: AtomicU64,
    budget: u64,
}

impl CpuMeter {
    pub(crate) fn new(budget: Duration) -> Arc<Self> {
        let budget = u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX);
        let [spent, began, earlier] = [0; 3].map(AtomicU64::new);
        Arc::new(Self { created: Instant::now(), spent, began, earlier, budget })
    }

    /// Returns, from within a poll, its nanoseconds so far.
    pub(crate) fn slice(&self) -> u64 {
        self.charge(self.lasts(Instant::now()), cpu_time())
    }

    /// Returns for how many nanoseconds the current poll has lasted.
    fn lasts(&self, now: Instant) -> u64 {
        self.since_created(now).saturating_sub(self.began.load(Ordering::Relaxed))
    }

    fn since_created(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.created).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns the nanoseconds that the current poll can have computed, by the CPU clock of its thread: never less than it has, if the
    /// clock is exact.
    fn charge(&self, lasts: u64, clock: u64) -> u64 {
        let computed = clock.saturating_sub(self.earlier.load(Ordering::Relaxed));
        if HAS_EXACT_CPU_TIME { computed.min(lasts) } else { computed }
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
        let now = Instant::now();
        let (earlier, _) = fresh_reading(now).unwrap_or_else(|| take_reading(now));
        self.began.store(self.since_created(now), Ordering::Relaxed);
        self.earlier.store(earlier, Ordering::Relaxed);
    }

    /// Ends a poll; true while the budget lasts.
    fn end(&self) -> bool {
        let now = Instant::now();
        let lasts = self.lasts(now);
        let slice = if lasts < SHORT && fresh_reading(now).is_some() {
            lasts
        } else {
            self.charge(lasts, take_reading(now).0)
        };
        self.spent.fetch_add(slice, Ordering::Relaxed).saturating_add(slice) <= self.budget
    }
}

/// Returns the last reading of this thread's CPU clock, unless it is too old.
fn fresh_reading(now: Instant) -> Option<(u64, Instant)> {
    let is_fresh = |(_, read): &(u64, Instant)| now.saturating_duration_since(*read) < MAX_AGE;
    READING.get().filter(is_fresh).filter(|_| HAS_EXACT_CPU_TIME)
}

/// Reads this thread's CPU clock.
fn take_reading(now: Instant) -> (u64, Instant) {
    let reading = (cpu_time(), now);
    READING.set(Some(reading));
    reading
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
    use std::{future::ready, thread::sleep};

    use super::*;

    const LONG: u64 = 40_000_000;

    /// Whether this is at least that long, by clocks of which one may be adjusted.
    fn reaches(nanos: u64, least: u64) -> bool {
        nanos >= least - least / 100
    }

    fn compute(nanos: u64) {
        let began = cpu_time();
        while cpu_time() - began < nanos {}
    }

    /// Polls work as that of a guest; returns what it is charged.
    async fn charged(work: impl Future<Output = ()>) -> u64 {
        let meter = CpuMeter::new(Duration::from_secs(60));
        let future = Box::pin(work);
        assert!((MeteredFuture { meter: Arc::clone(&meter), future }).await.is_ok());
        meter.spent()
    }

    #[tokio::test]
    async fn a_poll_is_charged_what_it_computes_not_what_it_lasts() {
        charged(async {}).await;
        let waits = charged(async { sleep(Duration::from_nanos(LONG)) }).await;
        assert!(waits < LONG / 2, "{waits}");
        let computes = charged(async { compute(LONG) }).await;
        assert!(reaches(computes, LONG), "{computes}");
    }

    #[tokio::test]
    async fn polls_within_a_poll_take_nothing_from_it() {
        let outer = charged(async {
            compute(LONG / 2);
            assert!(reaches(charged(async { compute(LONG / 4) }).await, LONG / 4));
            compute(LONG / 4);
        });
        let outer = outer.await;
        assert!(reaches(outer, LONG), "{outer}");
    }

    #[tokio::test]
    async fn short_polls_are_charged_too() {
        let mut all = 0;
        for _ in 0..1000 {
            all += charged(async { compute(SHORT / 5) }).await;
        }
        assert!(reaches(all, 1000 * SHORT / 5), "{all}");
        assert!(charged(ready(())).await < LONG);
    }

    #[tokio::test]
    async fn work_on_another_thread_is_charged_by_its_cpu_time() {
        let meter = CpuMeter::new(Duration::from_millis(20));
        meter.run_blocking(|| std::thread::sleep(Duration::from_millis(40))).await;
        assert!(!meter.is_spent(), "waiting is free: {}", meter.spent());
        meter.run_blocking(|| compute(LONG)).await;
        assert!(meter.is_spent() && meter.spent() >= LONG, "{}", meter.spent());
    }
}
