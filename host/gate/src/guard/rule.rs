//! Which calls a guard looks at.

use std::collections::BTreeSet;

/// Rule of one guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardRule {
    /// Name of the guard.
    pub name: String,
    /// Facades whose calls it looks at.
    pub facades: GuardReach,
    /// Guards look at a call in this order; those of the same number in the order of their names.
    pub order: usize,
    /// Whether it looks at calls before they run.
    pub before: bool,
    /// Whether it looks at outcomes.
    pub after: bool,
}

/// Facades whose calls a guard looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardReach {
    /// All, also those that are loaded later.
    All,
    /// These, by the names under which they are served.
    Named(BTreeSet<String>),
}

impl GuardRule {
    /// Whether it looks at the calls of a facade.
    pub fn covers(&self, facade: &str) -> bool {
        match &self.facades {
            GuardReach::All => true,
            GuardReach::Named(names) => names.contains(facade),
        }
    }
}
