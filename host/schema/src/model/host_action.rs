//! The actions that the host adds to every facade for which they make sense.

/// Names of the host's actions: no facade may use them for an action or an alias.
pub const HOST_ACTIONS: [&str; 4] = ["describe", "run_status", "run_cancel", "batch"];

/// Name of the argument that completes a caller's login. Only facades with logins have it.
pub const LOGIN_CODE: &str = "login_code";

/// An action of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostAction {
    /// Describes the facade or one action.
    Describe,
    /// Returns the state and the result of a run.
    RunStatus,
    /// Cancels a run.
    RunCancel,
    /// Makes several calls.
    Batch,
}

impl HostAction {
    pub(crate) const ALL: [Self; 4] = [Self::Describe, Self::RunStatus, Self::RunCancel, Self::Batch];

    pub(crate) fn name(self) -> &'static str {
        HOST_ACTIONS[self as usize]
    }

    /// The description of a tool that is this action alone.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Self::Describe => "The parameters and examples of an action.",
            Self::RunStatus => "A run's state and result.",
            Self::RunCancel => "End a run.",
            Self::Batch => "Several calls in one.",
        }
    }

    /// The parameters, without `wait` and `detail`, which every action accepts.
    pub(crate) fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Describe => &["of"],
            Self::RunStatus => &["run_id", "include_trace"],
            Self::RunCancel => &["run_id"],
            Self::Batch => &["items", "mode"],
        }
    }

    /// Whether the action manages runs.
    pub(crate) fn is_about_runs(self) -> bool {
        matches!(self, Self::RunStatus | Self::RunCancel)
    }

    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host_action| name.eq_ignore_ascii_case(host_action.name()))
    }
}
