//! Calls that outlived their request, until they are forgotten.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{id::RunId, state::CallState, status::Status};
use crate::access::Origin;

/// How long the outcome of a run is kept.
pub const KEPT: Duration = Duration::from_secs(3600);
/// How long the outcome of a call that only waited for an answer is kept: a client whose connection broke repeats the
/// request that brought it, and the call must not be made twice.
const DETACHED_TTL: Duration = Duration::from_secs(300);
/// How many runs are kept, ended ones first to go.
const MAX_RUNS: usize = 1000;
/// What the runs that are kept may take together, in bytes of memory: each outcome may be as large as a result may be.
const MAX_BYTES: usize = 64 << 20;

/// The detached calls.
#[derive(Default)]
pub(crate) struct RunRegistry(Mutex<HashMap<RunId, Arc<CallState>>>);

impl RunRegistry {
    /// Keeps a run; its handle.
    pub(crate) fn register(&self, run: Arc<CallState>, listed: bool) -> RunId {
        run.keep_outcome();
        if listed {
            run.become_run();
        }
        let id = RunId::random();
        let mut runs = self.lock();
        evict(&mut runs, 1);
        runs.insert(id.clone(), run);
        id
    }

    /// The run of that handle.
    pub(crate) fn get(&self, id: &RunId) -> Option<Arc<CallState>> {
        let mut runs = self.lock();
        evict(&mut runs, 0);
        runs.get(id).cloned()
    }

    /// A caller's runs of one facade, the newest first.
    pub(crate) fn list(&self, origin: &Origin, facade: &str) -> Vec<(RunId, Arc<CallState>)> {
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

    /// The facades of which the caller of a call has runs that have not ended.
    pub(crate) fn unfinished_facades(&self, call: &CallState) -> BTreeSet<String> {
        let runs = self.lock();
        let own = runs
            .values()
            .filter(|kept| kept.ended_at().is_none() && kept.is_run() && kept.is_visible_beside(call));
        own.map(|kept| kept.facade.clone()).collect()
    }

    /// How each of them stands.
    pub(crate) fn statuses(&self) -> Vec<Status> {
        self.lock().values().map(|run| run.status()).collect()
    }

    /// Those that have not ended.
    pub(crate) fn unfinished_runs(&self) -> Vec<Arc<CallState>> {
        let runs = self.lock();
        runs.values().filter(|kept| kept.ended_at().is_none()).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Arc<CallState>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets what is old, and the oldest where there is no room for so many more.
fn evict(runs: &mut HashMap<RunId, Arc<CallState>>, more: usize) {
    let now = Instant::now();
    runs.retain(|_, kept| {
        let most = if kept.is_run() { KEPT } else { DETACHED_TTL };
        kept.ended_at().is_none_or(|ended| now.saturating_duration_since(ended) < most)
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
