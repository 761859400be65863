//! Limits on the unfinished calls of one caller: runs and questions hold resources that all callers share.

use std::{
    collections::HashMap,
    num::NonZero,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::permits::ROOT_PERMITS;
use crate::access::CallerAccount;

/// Limits of one caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallerQuotas {
    /// Unfinished long-running calls, whether or not the caller waits for them. `None`: no limit.
    pub runs: Option<NonZero<usize>>,
    /// Calls that wait for a person.
    pub parked: usize,
}

impl CallerQuotas {
    /// Default: a quarter of the root calls that run at once.
    pub const RUNS: usize = ROOT_PERMITS / 4;
    /// Default of [`parked`](Self::parked).
    pub const PARKED: usize = 4;
}

impl Default for CallerQuotas {
    fn default() -> Self {
        Self { runs: NonZero::new(Self::RUNS), parked: Self::PARKED }
    }
}

/// Unfinished long-running calls of each account.
///
/// The mutex guards the counts, and is held for one update at a time; no other lock is taken under it. Nobody waits: a call
/// beyond the quota is refused.
#[derive(Default, Clone)]
pub(crate) struct UnfinishedCalls(Arc<Mutex<HashMap<CallerAccount, usize>>>);

/// Counts one long-running call of an account until it is dropped.
pub(crate) struct UnfinishedTicket {
    unfinished: UnfinishedCalls,
    account: CallerAccount,
}

impl UnfinishedCalls {
    /// Counts one more call of this account. The local user, who has no account, is neither limited nor counted.
    ///
    /// # Errors
    ///
    /// The number of unfinished calls, if the quota is used up.
    pub(crate) fn register(
        &self,
        account: Option<&CallerAccount>,
        quotas: CallerQuotas,
    ) -> Result<Option<UnfinishedTicket>, usize> {
        let Some(account) = account else { return Ok(None) };
        let mut all = self.lock();
        let now = all.get(account).copied().unwrap_or_default();
        if quotas.runs.is_some_and(|most| now >= most.get()) {
            return Err(now);
        }
        all.insert(account.clone(), now + 1);
        Ok(Some(UnfinishedTicket { unfinished: self.clone(), account: account.clone() }))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CallerAccount, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnfinishedTicket {
    fn drop(&mut self) {
        let mut all = self.unfinished.lock();
        if let Some(now) = all.get_mut(&self.account) {
            *now -= 1;
            if *now == 0 {
                all.remove(&self.account);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{CallOrigin, CallerRights};

    #[test]
    fn each_caller_has_a_bound_of_its_own() {
        let (unfinished, quotas) = (UnfinishedCalls::default(), CallerQuotas::default());
        let begin = |origin: CallOrigin| unfinished.register(origin.account().as_ref(), quotas);
        let named = |name: &str| CallOrigin::named(name, CallerRights::all());
        let mut ada: Vec<_> = (0..10).map(|_| begin(named("ada")).ok().unwrap()).collect();
        assert_eq!(begin(named("ada")).err(), Some(10));
        assert!(begin(named("bob")).is_ok());
        ada.pop();
        assert!(begin(named("ada")).is_ok());
        drop(ada);
        assert!(unfinished.lock().is_empty());
        let local: Vec<_> = (0..100).map(|_| begin(CallOrigin::local())).collect();
        assert!(local.iter().all(Result::is_ok));
        let unbounded = CallerQuotas { runs: None, ..quotas };
        let many: Vec<_> =
            (0..100).map(|_| unfinished.register(named("ada").account().as_ref(), unbounded)).collect();
        assert!(many.iter().all(Result::is_ok));
    }
}
