//! Permits: which calls may run now.
//!
//! Root calls queue for permits. A nested call that queued there could wait for a permit that its own caller holds, so
//! nested calls draw from one pool per depth. A holder waits only for a permit of a deeper pool, and the deepest calls make
//! no further calls, so permits cannot deadlock.
//!
//! **Invariant**: one caller holds at most three quarters of any pool (`fair_pool.rs`), and calls that may outlive their
//! request at most three quarters of the permits for root calls, so that neither takes the last one.

use loggia_policy::model::limit_names::{CONCURRENCY, QUEUE, QUEUE_TIME};
use std::{
    sync::atomic::{AtomicI32, Ordering},
    time::Duration,
};

use loggia_facade::{Failure, code};
use loggia_policy::model::FacadeRules;

use super::{
    cpu_shares::FacadeUsage,
    fair_pool::{FairPool, PoolPermit, share_size},
};
use crate::{access::CallerAccount, failures};

/// Maximum depth of nested calls below a root call.
pub(crate) const MAX_DEPTH: usize = 5;
/// Root calls that run at once, over all facades. Root and nested permits together stay below the number of the sandbox's
/// instances.
pub(super) const ROOT_PERMITS: usize = 40;
/// Nested calls that run at once, per depth. A workflow runs ten steps at once.
const NESTED_PERMITS: [usize; MAX_DEPTH] = [10, 6, 4, 2, 2];
/// Number of locks over which the accounts of the global pools are spread.
const SHARDS: usize = 16;

/// Time that a nested call waits for a permit. Chosen for steps of workflows; the clocks of most callers end earlier.
const NESTED_PATIENCE: Duration = Duration::from_secs(5 * 60);

/// Hint for a full queue of a facade.
fn queue_hint() -> String {
    format!(
        "Try again in a second. The operator can raise `{CONCURRENCY}`, `{QUEUE}` or `{QUEUE_TIME}` in its policy."
    )
}

fn too_many_calls(hint: Option<&str>) -> Failure {
    let hint = hint.map(str::to_owned);
    Failure { retry_after_ms: Some(1000), hint, ..failures::busy("too many calls run now") }
}

/// Properties of a root call that decide which permits it takes.
#[derive(Clone, Copy)]
pub(crate) struct PermitHolder<'a> {
    /// Account whose share it uses.
    pub account: Option<&'a CallerAccount>,
    /// True if it may outlive its request. Such calls also need a permit of the `long` pools, which are smaller, so that
    /// calls that end within their request always find a permit.
    pub long: bool,
}

/// Permit pools that all facades share.
pub(crate) struct PermitPools {
    /// Permits of root calls. Holders wait only for nested permits, a person (after they have released this one), or I/O.
    roots: FairPool,
    /// Bounds the root permits that long-running calls hold.
    long: FairPool,
    /// Permits of nested calls, one pool per depth. The holder of a permit at depth `n` waits only for depth `n + 1`.
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

/// Permit to run, released on drop.
pub(crate) struct CallPermit {
    _held: [Option<PoolPermit>; 4],
}

impl PermitPools {
    /// Pools that a root call takes a permit from. All calls take them in this order, so no two calls wait for each other.
    /// Those of the facade come first: a call that waits for its facade holds no permit that others need.
    fn root_pools<'a>(&'a self, pace: &'a FacadeFlow, long: bool) -> [Option<&'a FairPool>; 4] {
        [long.then_some(&pace.long), Some(&pace.permits), long.then_some(&self.long), Some(&self.roots)]
    }

    /// Takes the permits of a root call if all are free.
    fn try_acquire_root(&self, pace: &FacadeFlow, holder: PermitHolder<'_>) -> Option<CallPermit> {
        let mut held = [const { None }; 4];
        for (place, pool) in held.iter_mut().zip(self.root_pools(pace, holder.long)) {
            if let Some(pool) = pool {
                *place = Some(pool.try_acquire(holder.account)?);
            }
        }
        Some(CallPermit { _held: held })
    }

    /// Takes the permits of a root call, or waits for them in its facade's queue. The wall clock has not started, so the
    /// wait does not count against it.
    ///
    /// # Errors
    ///
    /// `unavailable` with a time to retry, if the queue is full or the wait exceeds `limits.queue-time`.
    pub(crate) async fn acquire_root(
        &self,
        pace: &FacadeFlow,
        holder: PermitHolder<'_>,
    ) -> Result<CallPermit, Failure> {
        if let Some(permit) = self.try_acquire_root(pace, holder) {
            return Ok(permit);
        }
        let _waiting =
            pace.queue.try_acquire(holder.account).ok_or_else(|| too_many_calls(Some(&queue_hint())))?;
        self.reacquire_root(pace, holder).await
    }

    /// Takes the permits of a root call again after it was parked. It bypasses the queue: a full queue must not lose a
    /// person's answer, and the number of parked calls is bounded.
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
        tokio::time::timeout(pace.queue_time, turn).await.map_err(|_| too_many_calls(Some(&queue_hint())))
    }

    /// Takes a permit for a nested call at this depth (1 for a call made by a root call), or waits for one.
    pub(crate) async fn acquire_nested(
        &self,
        depth: usize,
        account: Option<&CallerAccount>,
    ) -> Result<CallPermit, Failure> {
        let Some(reserve) = depth.checked_sub(1).and_then(|at| self.nested.get(at)) else {
            let message = format!("calls nest at most {MAX_DEPTH} deep");
            return Err(Failure::new(code::UNAVAILABLE, message));
        };
        let turn = tokio::time::timeout(NESTED_PATIENCE, reserve.acquire(account)).await;
        let place = turn.map_err(|_| too_many_calls(None))?;
        Ok(CallPermit { _held: [place, None, None, None] })
    }
}

/// Flow control of one facade: its permits, its queue, its CPU use and its inline slices.
pub(crate) struct FacadeFlow {
    /// Root calls that may run at once (`limits.concurrency`).
    permits: FairPool,
    /// Bounds the permits that long-running calls hold.
    long: FairPool,
    /// Root calls that may wait for a permit (`limits.queue`). A call holds a place in the queue while it waits; without a
    /// free place it is refused at once.
    queue: FairPool,
    /// Time that a call waits for a permit (`limits.queue-time`).
    queue_time: Duration,
    /// CPU use of its calls.
    pub(crate) cpu_share: FacadeUsage,
    /// Calls that start on the `calls` runtime before one may run inline again. Relaxed: a heuristic that guards no data.
    overruns: AtomicI32,
}

/// Cost of one overrun, in calls that start on the `calls` runtime.
const PENALTY: i32 = 8;
/// Maximum of the sum of these costs.
const MAX_PENALTY: i32 = 64;

impl FacadeFlow {
    /// Creates the flow control of a facade with these limits.
    pub(crate) fn new(rules: &FacadeRules) -> Self {
        Self {
            permits: FairPool::new(rules.concurrency),
            long: FairPool::new(share_size(rules.concurrency)),
            queue: FairPool::new(rules.queue),
            queue_time: rules.queue_time,
            cpu_share: FacadeUsage::default(),
            overruns: AtomicI32::new(0),
        }
    }

    /// Number of root calls that wait for a permit.
    pub(crate) fn queued(&self) -> usize {
        self.queue.in_use()
    }

    /// Returns true if a call may run its first slice inline. Counts down the cost of earlier overruns.
    pub(crate) fn may_start_inline(&self) -> bool {
        self.overruns.load(Ordering::Relaxed) <= 0 || self.overruns.fetch_sub(1, Ordering::Relaxed) <= 1
    }

    /// Counts a call that computed through its inline slice.
    pub(crate) fn record_overrun(&self) {
        let penalty = |now: i32| Some((now.max(0) + PENALTY).min(MAX_PENALTY));
        let _ = self.overruns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, penalty);
    }
}
