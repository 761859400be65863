//! The host's own actions, which every facade has beside its own, where they make sense.

/// One of the host's own actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostAction {
    /// Tells about the others.
    Describe,
    /// How a run stands; what came of it.
    RunStatus,
    /// Ends a run.
    RunCancel,
    /// Several calls in one.
    Batch,
}

impl HostAction {
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
    pub(crate) fn is_about_runs(self) -> bool {
        matches!(self, Self::RunStatus | Self::RunCancel)
    }

    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| name.eq_ignore_ascii_case(own.name()))
    }
}
