//! The host's own actions, which every facade has beside its own, where they make sense.

use crate::{Contract, View};

/// One of the host's own actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own {
    /// Tells about the others.
    Describe,
    /// How a run stands; what came of it.
    RunStatus,
    /// Ends a run.
    RunCancel,
    /// Several calls in one.
    Batch,
}

impl Own {
    pub(crate) const ALL: [Self; 4] = [Self::Describe, Self::RunStatus, Self::RunCancel, Self::Batch];

    /// The names, which no action of a plugin may have.
    pub(crate) const NAMES: [&str; 4] = ["describe", "run_status", "run_cancel", "batch"];

    pub(crate) fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// What a tool of its own says of it.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Self::Describe => "The parameters and examples of an action.",
            Self::RunStatus => "How a run stands, and its result.",
            Self::RunCancel => "End a run.",
            Self::Batch => "Several calls in one.",
        }
    }

    /// Its parameters; those beside `wait` and `detail`, which are understood everywhere.
    pub(crate) fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Describe => &["of"],
            Self::RunStatus => &["run_id", "include_trace"],
            Self::RunCancel => &["run_id"],
            Self::Batch => &["items", "mode"],
        }
    }

    /// Whether it is about runs.
    pub(crate) fn is_of_runs(self) -> bool {
        matches!(self, Self::RunStatus | Self::RunCancel)
    }

    fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| name.eq_ignore_ascii_case(own.name()))
    }
}

impl Contract {
    /// Whether calls of this facade can become runs.
    pub fn has_runs(&self) -> bool {
        self.terms().batch || self.surface().actions.iter().any(|action| action.long_running)
    }

    /// The host's actions that this facade has.
    pub(crate) fn own(&self) -> impl Iterator<Item = Own> {
        let has = |own: &Own| match own {
            Own::Describe => true,
            Own::RunStatus | Own::RunCancel => self.has_runs(),
            Own::Batch => self.terms().batch,
        };
        Own::ALL.into_iter().filter(has)
    }

    /// The names of the host's actions that a tool of this facade takes.
    pub(crate) fn own_names<'a>(&'a self, view: &'a View) -> impl Iterator<Item = &'a str> {
        self.own().filter(|own| view.has(*own)).map(|own| -> &'a str { own.name() })
    }

    /// The host's action of this name, and whether it was asked for with its trace. `status` and `result` are what
    /// other servers call a run's status; they mean it where the facade has no such action of its own.
    pub(crate) fn find_own(&self, name: &str) -> Option<(Own, bool)> {
        if let Some(own) = Own::find(name) {
            return self.own().find(|known| *known == own).map(|own| (own, false));
        }
        let is = |alias: &str| name.eq_ignore_ascii_case(alias);
        let alias = (is("status") || is("result")) && self.has_runs() && self.index(name).is_none();
        alias.then_some((Own::RunStatus, is("result")))
    }
}
