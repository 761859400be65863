//! Results of all calls.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Counts of calls by kind and outcome, changes of the folder, and problems.
#[derive(Default)]
pub struct Ledger {
    counts: Mutex<BTreeMap<(&'static str, String), u64>>,
    problems: Mutex<Vec<String>>,
}

/// Maximum number of recorded problems; one is enough to fail.
const MOST: usize = 20;

impl Ledger {
    /// Counts one.
    pub fn count(&self, kind: &'static str, outcome: impl Into<String>) {
        *lock(&self.counts).entry((kind, outcome.into())).or_default() += 1;
    }

    /// Something that must not be.
    pub fn problem(&self, said: String) {
        let mut problems = lock(&self.problems);
        if problems.len() < MOST {
            eprintln!("problem: {said}");
            problems.push(said);
        }
    }

    /// All of these.
    pub fn problems(&self) -> Vec<String> {
        lock(&self.problems).clone()
    }

    /// `kind: outcome n, outcome n`, a line each.
    pub fn table(&self) -> String {
        let mut kinds: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for ((kind, outcome), count) in lock(&self.counts).iter() {
            kinds.entry(kind).or_default().push(format!("{outcome} {count}"));
        }
        kinds.iter().map(|(kind, outcomes)| format!("  {kind:22} {}\n", outcomes.join(", "))).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
