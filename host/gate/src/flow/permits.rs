//! Who may run now.
//!
//! A nested call that waited for a permit which its own caller holds would wait for ever, so nested calls take from a
//! reserve per depth: who holds one waits at most for a deeper one, and there is a deepest.
//!
//! **Invariant**: one caller holds at most three quarters of the permits of anything (`pool.rs`), and calls that may outlive
//! their request at most three quarters of those for root calls, so that neither takes the last one.

use std::{
    sync::atomic::{AtomicI32, Ordering},
    time::Duration,
};

use loggia_facade::{Failure, code};

use super::{
    cpu_shares::FacadeUsage,
    fair_pool::{FairPool, PoolPermit, share_size},
};
use crate::access::{Account, Rules};

/// Calls nest at most this deep below a root call.
pub(crate) const MAX_DEPTH: usize = 5;
/// Root calls that run at once, over all facades. Together with the reserves they stay below the sandbox's
/// instances.
pub(super) const ROOT_PERMITS: usize = 40;
/// Nested calls that run at once, per depth. A workflow runs ten steps at once.
const NESTED_PERMITS: [usize; MAX_DEPTH] = [10, 6, 4, 2, 2];
/// Over how many locks the callers of all facades are spread.
const SHARDS: usize = 16;

/// How long a nested call waits for its turn; most callers' own clocks end before. A workflow's steps have so long.
const NESTED_PATIENCE: Duration = Duration::from_secs(5 * 60);

/// What an operator can do about a facade's own queue.
const QUEUE_HINT: &str = "Try again in a second. The operator can raise `limits.concurrency`, `limits.queue` or \
                   `limits.queue-time` in its policy.";

fn busy(hint: Option<&str>) -> Failure {
    let hint = hint.map(str::to_owned);
    let busy = Failure::new(code::UNAVAILABLE, "busy: too many calls run now");
    Failure { retry_after_ms: Some(1000), hint, ..busy }
}

/// Who runs a root call, as far as permits depend on it.
#[derive(Clone, Copy)]
pub(crate) struct PermitHolder<'a> {
    /// Whose share it uses.
    pub account: Option<&'a Account>,
    /// It may outlive its request: it takes a permit from the part that such calls have, so that calls which end within
    /// their request always find the rest.
    pub long: bool,
}

/// The permits that all facades share.
pub(crate) struct PermitPools {
    roots: FairPool,
    /// The part of them that long calls may take.
    long: FairPool,
    nested: [FairPool; MAX_DEPTH],
}

impl Default for PermitPools {
    fn default() -> Self {
        Self {
            roots: FairPool::sharded(ROOT_PERMITS, SHARDS),
            long: FairPool::sharded(share_size(ROOT_PERMITS), SHARDS),
            nested: NESTED_PERMITS.map(|reserve| FairPool::sharded(reserve, SHARDS)),
        }
    }
}

/// The right to run, given back when it is dropped.
pub(crate) struct CallPermit {
    _held: [Option<PoolPermit>; 4],
}

impl PermitPools {
    /// The pools that a root call takes a permit from, in the order in which all calls do, so that none waits for a permit
    /// of one that waits for its own. A facade's come first: who waits for it keeps nobody from the others.
    fn root_pools<'a>(&'a self, pace: &'a FacadeFlow, long: bool) -> [Option<&'a FairPool>; 4] {
        [long.then_some(&pace.long), Some(&pace.permits), long.then_some(&self.long), Some(&self.roots)]
    }

    /// A permit, if it can be had at once.
    fn try_acquire_root(&self, pace: &FacadeFlow, holder: PermitHolder<'_>) -> Option<CallPermit> {
        let mut held = [const { None }; 4];
        for (place, pool) in held.iter_mut().zip(self.root_pools(pace, holder.long)) {
            if let Some(pool) = pool {
                *place = Some(pool.try_acquire(holder.account)?);
            }
        }
        Some(CallPermit { _held: held })
    }

    /// Waits for a root call's turn: its facade's first, then everybody's. Waiting is not running, so it does not use
    /// up the call's clock; who waits too long, or behind too many, is told to come again.
    pub(crate) async fn acquire_root(
        &self,
        pace: &FacadeFlow,
        holder: PermitHolder<'_>,
    ) -> Result<CallPermit, Failure> {
        if let Some(permit) = self.try_acquire_root(pace, holder) {
            return Ok(permit);
        }
        let _waiting = pace.queue.try_acquire(holder.account).ok_or_else(|| busy(Some(QUEUE_HINT)))?;
        self.reacquire_root(pace, holder).await
    }

    /// The same for a call that had its turn and gave it up while a person was asked: the queue is for newcomers, and its
    /// end must not lose the person's answer. How many may come is bounded by how many may be parked.
    pub(crate) async fn reacquire_root(
        &self,
        pace: &FacadeFlow,
        holder: PermitHolder<'_>,
    ) -> Result<CallPermit, Failure> {
        let turn = async {
            let mut held = [const { None }; 4];
            for (place, pool) in held.iter_mut().zip(self.root_pools(pace, holder.long)) {
                if let Some(pool) = pool {
                    *place = pool.acquire(holder.account).await;
                }
            }
            CallPermit { _held: held }
        };
        tokio::time::timeout(pace.queue_time, turn).await.map_err(|_| busy(Some(QUEUE_HINT)))
    }

    /// Takes from the reserve of this depth (1 for a call made by a root call), or waits for its turn.
    pub(crate) async fn acquire_nested(
        &self,
        depth: usize,
        account: Option<&Account>,
    ) -> Result<CallPermit, Failure> {
        let Some(reserve) = depth.checked_sub(1).and_then(|at| self.nested.get(at)) else {
            let message = format!("calls nest at most {MAX_DEPTH} deep");
            return Err(Failure::new(code::UNAVAILABLE, message));
        };
        let turn = tokio::time::timeout(NESTED_PATIENCE, reserve.acquire(account)).await;
        let place = turn.map_err(|_| busy(None))?;
        Ok(CallPermit { _held: [place, None, None, None] })
    }
}

/// How a facade's calls run: its own permits, and whether its calls tend to overrun their inline slice.
pub(crate) struct FacadeFlow {
    permits: FairPool,
    /// The part of them that long calls may take.
    long: FairPool,
    /// Root calls that wait for a permit.
    queue: FairPool,
    /// How long each does.
    queue_time: Duration,
    /// What its calls compute.
    pub(crate) cpu_share: FacadeUsage,
    /// Above zero: the next calls start on the second runtime.
    overruns: AtomicI32,
}

/// What one overrun costs, in calls that start on the second runtime.
const PENALTY: i32 = 8;
/// The most that overruns add up to.
const MAX_PENALTY: i32 = 64;

impl FacadeFlow {
    /// A facade of which so many root calls run at once, and so many wait.
    pub(crate) fn new(rules: &Rules) -> Self {
        Self {
            permits: FairPool::new(rules.concurrency),
            long: FairPool::new(share_size(rules.concurrency)),
            queue: FairPool::new(rules.queue),
            queue_time: rules.queue_time,
            cpu_share: FacadeUsage::default(),
            overruns: AtomicI32::new(0),
        }
    }

    /// How many root calls wait.
    pub(crate) fn queued(&self) -> usize {
        self.queue.in_use()
    }

    /// Whether a call may take its first slice on the I/O runtime. A facade that overran gets there again after some
    /// calls elsewhere.
    pub(crate) fn may_start_inline(&self) -> bool {
        self.overruns.load(Ordering::Relaxed) <= 0 || self.overruns.fetch_sub(1, Ordering::Relaxed) <= 1
    }

    /// A call did not end within its inline slice.
    pub(crate) fn record_overrun(&self) {
        let penalty = |now: i32| Some((now.max(0) + PENALTY).min(MAX_PENALTY));
        let _ = self.overruns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, penalty);
    }
}
