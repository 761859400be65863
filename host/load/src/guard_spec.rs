//! A guard as the settings describe it.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use loggia_gate::guard::{GuardPost, GuardReach, GuardRoster, GuardRule};
use loggia_policy::settings::{ALL_FACADES, Guard};
use serde_json::Value;

/// A guard as the settings describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct GuardSpec {
    /// Its component.
    pub component: PathBuf,
    /// Which calls it looks at, and its name.
    pub rule: GuardRule,
    /// Its settings.
    pub config: BTreeMap<String, Value>,
    /// Whether it may know callers.
    pub caller: bool,
    /// CPU time of one look.
    pub time: Duration,
    /// Bytes of memory of one look.
    pub memory: usize,
    /// Bytes of a verdict.
    pub size: usize,
}

/// Converts the guards of the settings.
pub fn to_guard_specs(guards: &BTreeMap<String, Guard>) -> Vec<GuardSpec> {
    guards.iter().map(|(name, guard)| to_spec(name, guard)).collect()
}

/// Returns the guards that these settings describe, none of which is loaded, for commands that explain which calls they look at.
pub fn to_roster(specs: &[GuardSpec]) -> GuardRoster {
    GuardRoster::new(specs.iter().map(|spec| Arc::new(GuardPost::new(spec.rule.clone(), None))).collect())
}

fn to_spec(name: &str, guard: &Guard) -> GuardSpec {
    let facades = match guard.facades.iter().any(|facade| facade == ALL_FACADES) {
        true => GuardReach::All,
        false => GuardReach::Named(guard.facades.iter().cloned().collect()),
    };
    let Guard { before, after, order, .. } = *guard;
    GuardSpec {
        component: guard.component.clone(),
        rule: GuardRule { name: name.to_owned(), facades, order, before, after },
        config: guard.config.0.clone(),
        caller: guard.caller,
        time: guard.time.0,
        memory: guard.memory.bytes(),
        size: guard.size.bytes(),
    }
}
