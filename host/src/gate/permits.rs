//! Who may run now.
//!
//! A nested call that waited for a permit which its own caller holds would wait for ever, so nested calls take from a
//! reserve per depth: who holds one waits at most for a deeper one, and there is a deepest.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI32, AtomicUsize, Ordering},
    },
    time::Duration,
};

use loggia_facade::{Failure, code};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Rules, shares::Share};

/// Calls nest at most this deep below a root call.
pub const DEPTH: usize = 5;
/// Root calls that run at once, over all facades. Together with the reserves they stay below the sandbox's
/// instances.
const ROOTS: usize = 40;
/// Nested calls that run at once, per depth. A workflow runs ten steps at once.
const RESERVES: [usize; DEPTH] = [10, 6, 4, 2, 2];

/// How long a nested call waits for its turn; most callers' own clocks end before. A workflow's steps have so long.
const NESTED_PATIENCE: Duration = Duration::from_secs(5 * 60);

/// What an operator can do about a facade's own queue.
const OWN: &str = "Try again in a second. The operator can raise `limits.concurrency`, `limits.queue` or \
                   `limits.queue-time` in its policy.";

fn busy(hint: Option<&str>) -> Failure {
    let hint = hint.map(str::to_owned);
    let busy = Failure::new(code::UNAVAILABLE, "busy: too many calls run now");
    Failure { retry_after_ms: Some(1000), hint, ..busy }
}

/// The permits that all facades share.
pub struct Permits {
    roots: Arc<Semaphore>,
    nested: [Arc<Semaphore>; DEPTH],
}

impl Default for Permits {
    fn default() -> Self {
        Self {
            roots: Arc::new(Semaphore::new(ROOTS)),
            nested: RESERVES.map(|reserve| Arc::new(Semaphore::new(reserve))),
        }
    }
}

/// The right to run, given back when it is dropped.
pub struct Permit {
    _held: [Option<OwnedSemaphorePermit>; 2],
}

impl Permits {
    /// Waits for a root call's turn: its facade's first, then everybody's. Waiting is not running, so it does not use
    /// up the call's clock; who waits too long, or behind too many, is told to come again.
    pub async fn root(&self, pace: &Pace) -> Result<Permit, Failure> {
        let free = |of: &Arc<Semaphore>| Arc::clone(of).try_acquire_owned().ok();
        if let Some(own) = free(&pace.permits)
            && let Some(shared) = free(&self.roots)
        {
            return Ok(Permit { _held: [Some(own), Some(shared)] });
        }
        let _waiting = pace.queue()?;
        self.again(pace).await
    }

    /// The same for a call that had its turn and gave it up while a person was asked: the queue is for newcomers, and its
    /// end must not lose the person's answer. How many may come is bounded by how many may be parked.
    pub async fn again(&self, pace: &Pace) -> Result<Permit, Failure> {
        let turn = async {
            // The semaphores are never closed, so an error cannot come.
            let own = Arc::clone(&pace.permits).acquire_owned().await.ok();
            let shared = Arc::clone(&self.roots).acquire_owned().await.ok();
            Permit { _held: [own, shared] }
        };
        tokio::time::timeout(pace.patience, turn).await.map_err(|_| busy(Some(OWN)))
    }

    /// Takes from the reserve of this depth (1 for a call made by a root call), or waits for its turn.
    pub async fn nested(&self, depth: usize) -> Result<Permit, Failure> {
        let Some(reserve) = depth.checked_sub(1).and_then(|at| self.nested.get(at)) else {
            let said = format!("calls nest at most {DEPTH} deep");
            return Err(Failure::new(code::UNAVAILABLE, said));
        };
        let turn = tokio::time::timeout(NESTED_PATIENCE, Arc::clone(reserve).acquire_owned()).await;
        Ok(Permit { _held: [turn.map_err(|_| busy(None))?.ok(), None] })
    }
}

/// How a facade's calls run: its own permits, and whether its calls tend to overrun their inline slice.
pub struct Pace {
    permits: Arc<Semaphore>,
    /// Root calls that wait for a permit.
    waiting: Arc<AtomicUsize>,
    /// How many may.
    queue: usize,
    /// How long each does.
    patience: Duration,
    /// What its calls compute.
    pub(super) share: Share,
    /// Above zero: the next calls start on the second runtime.
    overruns: AtomicI32,
}

/// A place in the queue, given back when it is dropped.
struct Waiting(Arc<AtomicUsize>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What one overrun costs, in calls that start on the second runtime.
const PENALTY: i32 = 8;
/// The most that overruns add up to.
const PENALTY_MOST: i32 = 64;

impl Pace {
    /// A facade of which so many root calls run at once, and so many wait.
    pub fn new(rules: &Rules) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(rules.concurrency)),
            waiting: Arc::default(),
            queue: rules.queue,
            patience: rules.queue_time,
            share: Share::default(),
            overruns: AtomicI32::new(0),
        }
    }

    /// How many root calls wait.
    pub fn queued(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    fn queue(&self) -> Result<Waiting, Failure> {
        let waiting = Waiting(Arc::clone(&self.waiting));
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.queue {
            Err(busy(Some(OWN)))
        } else {
            Ok(waiting)
        }
    }

    /// Whether a call may take its first slice on the I/O runtime. A facade that overran gets there again after some
    /// calls elsewhere.
    pub fn may_start_inline(&self) -> bool {
        self.overruns.load(Ordering::Relaxed) <= 0 || self.overruns.fetch_sub(1, Ordering::Relaxed) <= 1
    }

    /// A call did not end within its inline slice.
    pub fn overran(&self) {
        let penalty = |now: i32| Some((now.max(0) + PENALTY).min(PENALTY_MOST));
        let _ = self.overruns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, penalty);
    }
}
