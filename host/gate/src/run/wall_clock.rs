//! Wall clocks of a call, which stand still while it waits for a person.

use std::time::Duration;

use tokio::time::Instant;

use super::state::CallState;

impl CallState {
    /// Parks a branch of the call. Returns true for the first.
    pub(crate) fn park(&self) -> bool {
        let mut state = self.lock();
        state.clock.parked_branches += 1;
        state.clock.parked_since.get_or_insert_with(Instant::now);
        state.clock.parked_branches == 1
    }

    /// Returns true while any branch waits for a person.
    pub(crate) fn is_parked(&self) -> bool {
        self.lock().clock.parked_branches > 0
    }

    /// Resumes a parked branch. Returns true for the last, and restarts the clock.
    pub(crate) fn resume(&self) -> bool {
        let mut state = self.lock();
        state.clock.parked_branches = state.clock.parked_branches.saturating_sub(1);
        let was_last = state.clock.parked_branches == 0;
        if was_last {
            state.clock.parked_total = state.clock.parked_time(Instant::now());
            state.clock.parked_since = None;
            drop(state);
            self.resumed.notify_waiters();
        }
        was_last
    }

    /// Starts a wall clock. The result is its end without the time that the call spends parked, which makes clocks
    /// comparable; [`deadline`](Self::deadline) converts it to a moment.
    pub(crate) fn start_clock(&self, wall: Duration) -> Instant {
        let now = Instant::now();
        let parked = self.lock().clock.parked_time(now);
        (now + wall).checked_sub(parked).unwrap_or(now)
    }

    /// Moment at which a clock ends, given the parked time so far. `None` while the call is parked.
    pub(crate) fn deadline(&self, due: Instant) -> Option<Instant> {
        let state = self.lock();
        state.clock.parked_since.is_none().then(|| due + state.clock.parked_total)
    }

    /// Runs a future until a clock ends. `None` if it ends first.
    pub(crate) async fn run_within<F: Future>(&self, due: Instant, future: F) -> Option<F::Output> {
        tokio::pin!(future);
        loop {
            let until = self.deadline(due);
            let clock = async {
                match until {
                    Some(until) => tokio::time::sleep_until(until).await,
                    None => self.wait_until_resumed().await,
                }
            };
            tokio::select! {
                biased;
                output = &mut future => return Some(output),
                () = clock => {}
            }
            if self.deadline(due).is_some_and(|until| until <= Instant::now()) {
                return None;
            }
        }
    }

    /// Waits until the call is not parked.
    async fn wait_until_resumed(&self) {
        loop {
            let resumed = self.resumed.notified();
            tokio::pin!(resumed);
            resumed.as_mut().enable();
            if self.lock().clock.parked_since.is_none() {
                return;
            }
            resumed.await;
        }
    }
}
