//! Calls that outlive their request, until they are evicted.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::time::Instant;

use super::{id::RunId, state::CallState, status::RunStatus};
use crate::access::CallOrigin;

/// TTL of the outcome of a run.
pub const RUN_TTL: Duration = Duration::from_secs(3600);
/// TTL of the outcome of a call that was detached only to wait for an answer. A client that lost its connection repeats the
/// answering request, and the call must not be made twice.
const DETACHED_TTL: Duration = Duration::from_secs(300);
/// Maximum number of entries. Ended ones are evicted first.
const MAX_RUNS: usize = 1000;
/// Bound on the memory of all kept outcomes, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Detached calls by their handles.
///
/// The mutex guards the map, and is held for one lookup, insertion or eviction: never across an await. The only locks taken
/// under it are those of single calls' states, which are never held while this one is taken, so there is no deadlock.
/// Nobody waits for an entry here; waiting is done on the [`CallState`] that an entry holds.
///
/// `recorded` has a lock of its own, held like the other and never together with it.
#[derive(Default)]
pub(crate) struct RunRegistry {
    runs: Mutex<HashMap<RunId, Arc<CallState>>>,
    /// Durable calls that have not ended, by their handles, whether detached or not: to be found by the operator.
    recorded: Mutex<HashMap<String, Weak<CallState>>>,
}

impl RunRegistry {
    /// Registers a detached call under a new handle; with `as_run`, as a run that its caller knows of.
    pub(crate) fn register(&self, run: Arc<CallState>, as_run: bool) -> RunId {
        run.keep_outcome();
        if as_run {
            run.become_run();
        }
        let id = match run.recorder() {
            None => RunId::random(),
            Some(recorder) => {
                // Its caller learns the handle, so the run must be found after a restart.
                drop(recorder.persist());
                RunId::from_client(recorder.run())
            }
        };
        let mut runs = self.lock();
        evict(&mut runs, 1);
        runs.insert(id.clone(), run);
        id
    }

    /// Finds a call by its handle.
    pub(crate) fn get(&self, id: &RunId) -> Option<Arc<CallState>> {
        let mut runs = self.lock();
        evict(&mut runs, 0);
        runs.get(id).cloned()
    }

    /// Lists a caller's runs of one facade, newest first.
    pub(crate) fn list(&self, origin: &CallOrigin, facade: &str) -> Vec<(RunId, Arc<CallState>)> {
        let mut runs = self.lock();
        evict(&mut runs, 0);
        let mut own: Vec<_> = runs
            .iter()
            .filter(|(_, kept)| kept.is_run() && kept.is_visible_to(origin))
            .filter(|(_, kept)| kept.facade == facade)
            .map(|(id, kept)| (id.clone(), Arc::clone(kept)))
            .collect();
        drop(runs);
        own.sort_by_key(|(_, run)| std::cmp::Reverse(run.began));
        own
    }

    /// Lists the facades of which the caller of this call has unfinished runs.
    pub(crate) fn unfinished_facades(&self, call: &CallState) -> BTreeSet<String> {
        let runs = self.lock();
        let own = runs
            .values()
            .filter(|kept| kept.ended_at().is_none() && kept.is_run() && kept.is_visible_beside(call));
        own.map(|kept| kept.facade.clone()).collect()
    }

    /// Lists the runs of all callers that no journal records.
    pub(crate) fn unrecorded_runs(&self) -> Vec<(RunId, Arc<CallState>)> {
        let mut runs = self.lock();
        evict(&mut runs, 0);
        let known = runs.iter().filter(|(_, kept)| kept.is_run() && kept.recorder().is_none());
        known.map(|(id, kept)| (id.clone(), Arc::clone(kept))).collect()
    }

    /// Status of each entry.
    pub(crate) fn statuses(&self) -> Vec<RunStatus> {
        self.lock().values().map(|run| run.status()).collect()
    }

    /// Lists the entries that have not ended.
    pub(crate) fn unfinished_runs(&self) -> Vec<Arc<CallState>> {
        let runs = self.lock();
        runs.values().filter(|kept| kept.ended_at().is_none()).cloned().collect()
    }

    /// Notes a call, if it is durable.
    pub(crate) fn note_recorded(&self, call: &Arc<CallState>) {
        let Some(recorder) = call.recorder() else { return };
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        if recorded.len() >= recorded.capacity() {
            // Before it grows.
            recorded.retain(|_, call| call.upgrade().is_some_and(|call| call.ended_at().is_none()));
        }
        recorded.insert(recorder.run().to_owned(), Arc::downgrade(call));
    }

    /// Finds a durable call of this host.
    pub(crate) fn recorded_call(&self, run: &str) -> Option<Arc<CallState>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).get(run)?.upgrade()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Arc<CallState>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Evicts expired entries, and then those that ended first until there is room for `more`.
fn evict(runs: &mut HashMap<RunId, Arc<CallState>>, more: usize) {
    let now = Instant::now();
    runs.retain(|_, kept| {
        let ttl = if kept.is_run() { RUN_TTL } else { DETACHED_TTL };
        kept.ended_at().is_none_or(|ended| now.saturating_duration_since(ended) < ttl)
    });
    let mut bytes: usize = runs.values().map(|kept| kept.weight()).sum();
    if runs.len() + more <= MAX_RUNS && bytes <= MAX_BYTES {
        return;
    }
    let mut ended: Vec<_> =
        runs.iter().filter_map(|(id, kept)| Some((kept.ended_at()?, id.clone()))).collect();
    ended.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    while runs.len() + more > MAX_RUNS || bytes > MAX_BYTES {
        let Some((_, id)) = ended.pop() else { return };
        bytes -= runs.remove(&id).map_or(0, |kept| kept.weight());
    }
}
