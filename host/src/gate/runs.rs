//! Calls that outlived their request, until they are forgotten.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::run::{Run, RunId};

/// How long the outcome of a run is kept.
const KEPT: Duration = Duration::from_secs(3600);
/// How many runs are kept, ended ones first to go.
const MOST: usize = 1000;

/// The detached calls.
#[derive(Default)]
pub struct Runs(Mutex<HashMap<RunId, Arc<Run>>>);

impl Runs {
    /// Keeps a run; its handle.
    pub fn keep(&self, run: Arc<Run>) -> RunId {
        run.keep();
        let id = RunId::random();
        let mut runs = self.lock();
        forget(&mut runs, Instant::now());
        runs.insert(id.clone(), run);
        id
    }

    /// The run of that handle.
    pub fn get(&self, id: &RunId) -> Option<Arc<Run>> {
        self.lock().get(id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Run>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forget(runs: &mut HashMap<RunId, Arc<Run>>, now: Instant) {
    runs.retain(|_, run| run.ended().is_none_or(|ended| now.saturating_duration_since(ended) < KEPT));
    if runs.len() < MOST {
        return;
    }
    let oldest =
        runs.iter().filter_map(|(id, run)| Some((run.ended()?, id.clone()))).min_by_key(|(at, _)| *at);
    if let Some((_, id)) = oldest {
        runs.remove(&id);
    }
}
