//! Permits that callers share. One caller holds at most three quarters of them, so that another's call finds one.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::access::CallerAccount;

/// Size at which a shard drops the accounts that hold nothing.
const SHARD_ACCOUNTS: usize = 64;

/// Semaphore with a smaller semaphore, the share, for each account.
///
/// A call takes a permit of its account's share first and then one of all. The order is the same for every call, and a
/// holder of a share permit waits only for permits of `all`, whose holders wait for nothing in this pool: so calls of one
/// account queue behind each other, and no cycle of waits can form.
pub(super) struct FairPool {
    /// All permits. Waiters are served in the order in which they came.
    all: Arc<Semaphore>,
    size: usize,
    /// Share of each account. The maps are sharded by account, so that calls of all facades do not contend for one lock. A
    /// lock is held for one lookup and never while a permit is awaited.
    shares: Box<[Shard]>,
    /// Chooses the shard; random, so that callers cannot aim for one.
    hashes: RandomState,
}

/// Shares of some of the accounts.
type Shard = Mutex<HashMap<CallerAccount, Arc<Semaphore>>>;

/// Permit of a pool, released on drop.
pub(super) struct PoolPermit {
    _permit: OwnedSemaphorePermit,
    _share: Option<OwnedSemaphorePermit>,
}

/// Largest part of a pool that one account may hold: three quarters, at least one.
pub(super) fn share_size(size: usize) -> usize {
    (size * 3 / 4).max(1)
}

impl FairPool {
    /// Creates a pool for the callers of one facade.
    pub(super) fn new(size: usize) -> Self {
        Self::sharded(size, 1)
    }

    /// Creates a pool for the callers of all facades, with its accounts spread over this many locks.
    pub(super) fn sharded(size: usize, shards: usize) -> Self {
        let size = size.min(Semaphore::MAX_PERMITS);
        Self {
            all: Arc::new(Semaphore::new(size)),
            size,
            shares: (0..shards).map(|_| Mutex::default()).collect(),
            hashes: RandomState::new(),
        }
    }

    /// Number of permits in use.
    pub(super) fn in_use(&self) -> usize {
        self.size.saturating_sub(self.all.available_permits())
    }

    /// Takes a permit if one is free, in the account's share and in all. The local user, who has no account, and accounts
    /// that many clients may share have no share of their own and may take all.
    pub(super) fn try_acquire(&self, account: Option<&CallerAccount>) -> Option<PoolPermit> {
        let free = |of: Arc<Semaphore>| of.try_acquire_owned().ok();
        let share = match account.filter(|account| !account.is_shared()) {
            Some(account) => Some(free(self.caller_share(account))?),
            None => None,
        };
        Some(PoolPermit { _permit: free(Arc::clone(&self.all))?, _share: share })
    }

    /// Waits for a permit: first for one of the account's share, then for one of all. Cancel-safe.
    pub(super) async fn acquire(&self, account: Option<&CallerAccount>) -> Option<PoolPermit> {
        // The semaphores are never closed, so `acquire_owned` cannot fail.
        let share = match account.filter(|account| !account.is_shared()) {
            Some(account) => Some(self.caller_share(account).acquire_owned().await.ok()?),
            None => None,
        };
        Some(PoolPermit { _permit: Arc::clone(&self.all).acquire_owned().await.ok()?, _share: share })
    }

    fn caller_share(&self, account: &CallerAccount) -> Arc<Semaphore> {
        let shard = match self.shares.len() {
            1 => 0,
            #[allow(clippy::cast_possible_truncation, reason = "a part of a hash is as good as all of it")]
            shards => self.hashes.hash_one(account) as usize % shards,
        };
        let mut shares = self.shares[shard].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(account) {
            return Arc::clone(share);
        }
        if shares.len() >= SHARD_ACCOUNTS {
            // A semaphore with a permit in use or awaited has another owner.
            shares.retain(|_, share| Arc::strong_count(share) > 1);
        }
        let share = Arc::new(Semaphore::new(share_size(self.size)));
        shares.insert(account.clone(), Arc::clone(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{CallOrigin, CallerRights};

    fn account(name: &str) -> Option<CallerAccount> {
        CallOrigin::named(name, CallerRights::all()).account()
    }

    #[test]
    fn a_share_is_three_quarters() {
        let shares: Vec<usize> = [0, 1, 2, 3, 4, 6, 8, 10, 40].map(share_size).into();
        assert_eq!(shares, [1, 1, 1, 2, 3, 4, 6, 7, 30]);
    }

    #[test]
    fn one_caller_leaves_a_permit_for_another() {
        let pool = FairPool::new(8);
        let take = |name: &str| pool.try_acquire(account(name).as_ref());
        let ada: Vec<PoolPermit> = (0..8).filter_map(|_| take("ada")).collect();
        assert_eq!((ada.len(), pool.in_use()), (6, 6));
        let bob: Vec<PoolPermit> = (0..8).filter_map(|_| take("bob")).collect();
        assert_eq!(bob.len(), 2);
        drop(ada);
        assert!(take("bob").is_some());
        assert_eq!(pool.in_use(), 2);
    }

    #[test]
    fn local_and_shared_accounts_may_take_all() {
        let pool = FairPool::new(8);
        let proxy = CallOrigin::anonymous().with_address("127.0.0.1".parse().ok()).account();
        for account in [None, proxy] {
            let taken: Vec<PoolPermit> = (0..9).filter_map(|_| pool.try_acquire(account.as_ref())).collect();
            assert_eq!(taken.len(), 8, "{account:?}");
        }
    }

    #[tokio::test]
    async fn waiting_for_a_share_blocks_no_other_caller() {
        let pool = Arc::new(FairPool::new(4));
        let ada: Vec<PoolPermit> = (0..3).filter_map(|_| pool.try_acquire(account("ada").as_ref())).collect();
        assert_eq!(ada.len(), 3);
        let waits = Arc::clone(&pool);
        let waits = tokio::spawn(async move { waits.acquire(account("ada").as_ref()).await });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        assert!(pool.acquire(account("bob").as_ref()).await.is_some());
        drop(ada);
        assert!(waits.await.unwrap().is_some());
    }

    #[test]
    fn accounts_that_hold_nothing_are_dropped() {
        let pool = FairPool::new(4);
        let held = pool.try_acquire(account("ada").as_ref());
        for n in 0..1000 {
            drop(pool.try_acquire(account(&format!("caller {n}")).as_ref()));
        }
        let shares = pool.shares[0].lock().unwrap();
        assert!(shares.len() <= SHARD_ACCOUNTS + 1, "{}", shares.len());
        assert!(held.is_some() && shares.contains_key(&account("ada").unwrap()));
    }
}
