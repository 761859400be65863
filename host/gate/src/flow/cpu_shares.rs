//! Fair-share CPU accounting between facades.
//!
//! Many short calls of one facade can take most of the machine, though none of them is long. So the CPU time of each facade is
//! summed in windows of time, and the calls of a facade that exceeded its share of the last window start on the `heavy`
//! runtime. Without contention there is no limit.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Length of a window: how long excess is noticed late, and how long it counts.
const WINDOW: Duration = Duration::from_millis(100);
/// CPU time per window that is always within a facade's share.
const FREE_USAGE: Duration = Duration::from_millis(25);
/// Ratio to the average of the active facades above which a facade is over its share.
const EXCESS_RATIO: (u32, u32) = (3, 2);

/// CPU time of all facades together.
pub(crate) struct CpuShares {
    /// Start of the first window.
    began: Instant,
    /// Sum over all facades. Taken after the lock of a facade's own sum was released, for a few additions per poll of a call,
    /// never across an await: no task ever holds two of these locks.
    all: Mutex<WindowUsage>,
}

/// CPU time of one facade.
#[derive(Default)]
pub(crate) struct FacadeUsage(Mutex<WindowUsage>);

/// CPU time in the current and the last window, of one facade or of all.
#[derive(Default, Clone, Copy)]
struct WindowUsage {
    /// Number of the current window.
    window: u64,
    now: UsageSum,
    before: UsageSum,
}

#[derive(Default, Clone, Copy)]
struct UsageSum {
    computed: Duration,
    /// Number of active facades.
    users: u32,
}

impl WindowUsage {
    fn advance(&mut self, window: u64) {
        match window.saturating_sub(self.window) {
            0 => return,
            1 => self.before = self.now,
            _ => self.before = UsageSum::default(),
        }
        (self.window, self.now) = (window, UsageSum::default());
    }
}

fn lock(usage: &Mutex<WindowUsage>) -> MutexGuard<'_, WindowUsage> {
    usage.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for CpuShares {
    fn default() -> Self {
        Self { began: Instant::now(), all: Mutex::default() }
    }
}

impl CpuShares {
    /// Charges a facade for CPU time in the current window.
    pub(crate) fn charge(&self, share: &FacadeUsage, computed: Duration) {
        self.charge_in(self.window(), share, computed);
    }

    /// Returns true if a facade exceeded its share of the last window.
    pub(crate) fn is_over_share(&self, share: &FacadeUsage) -> bool {
        self.was_over_share(self.window(), share)
    }

    fn charge_in(&self, window: u64, share: &FacadeUsage, computed: Duration) {
        let add = |usage: &Mutex<WindowUsage>, users: u32| {
            let mut usage = lock(usage);
            usage.advance(window);
            usage.now.computed += computed;
            usage.now.users += users;
            usage.now.users
        };
        let is_first = add(&share.0, 1) == 1;
        add(&self.all, u32::from(is_first));
    }

    fn was_over_share(&self, window: u64, share: &FacadeUsage) -> bool {
        let before = |usage: &Mutex<WindowUsage>| {
            let mut usage = lock(usage);
            usage.advance(window);
            usage.before
        };
        let own = before(&share.0).computed;
        if own <= FREE_USAGE {
            return false;
        }
        let all = before(&self.all);
        own * all.users * EXCESS_RATIO.1 > all.computed * EXCESS_RATIO.0
    }

    fn window(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos() / WINDOW.as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excess_in_the_last_window_exceeds_the_share() {
        let check = |computed: &[u64], expected: &[bool]| {
            let shares = CpuShares::default();
            let all: Vec<FacadeUsage> = computed.iter().map(|_| FacadeUsage::default()).collect();
            for (share, millis) in all.iter().zip(computed).filter(|(_, millis)| **millis > 0) {
                // In pieces, as calls do.
                (0..*millis).for_each(|_| shares.charge_in(7, share, Duration::from_millis(1)));
            }
            let greedy =
                |window| all.iter().map(|share| shares.was_over_share(window, share)).collect::<Vec<_>>();
            assert!(!greedy(7).contains(&true), "{computed:?}: while it is not over");
            assert_eq!(greedy(8), expected, "{computed:?}");
            assert!(!greedy(9).contains(&true), "{computed:?}: forgotten");
        };
        check(&[90], &[false]);
        check(&[90, 0, 0], &[false; 3]);
        check(&[150, 30], &[true, false]);
        check(&[50, 40], &[false; 2]);
        check(&[25, 1], &[false; 2]);
        check(&[26, 1], &[true, false]);
        check(&[50, 10, 10, 10, 10, 10], &[true, false, false, false, false, false]);
        check(&[40, 40, 40], &[false; 3]);
    }
}
