//! The result of routing a call.

use loggia_facade::{Command, Detail, Failure, Object};

/// What a call is, before its parameters were looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Routed {
    /// The command, to be echoed.
    pub command: Command,
    /// What is to be done.
    pub target: Target,
    /// How much of a result the caller wants.
    pub detail: Detail,
    /// Whether the caller wants to wait for the result, if it says so.
    pub wait: Option<bool>,
    /// Whether the caller confirms what a policy wants confirmed, if it says so.
    pub confirm: Option<bool>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// One of the facade's actions is to be run.
    Action {
        /// Its index in the surface's actions.
        action: usize,
        /// Its parameters, as they were sent.
        params: Object,
    },
    /// The host is to tell about the facade, or about one action.
    Describe {
        /// The action, as it was sent.
        of: Option<String>,
    },
    /// The host is to tell how a run stands or, without one, which there are.
    RunStatus {
        /// The run, as it was sent.
        run_id: Option<String>,
        /// With what it said meanwhile.
        include_trace: bool,
    },
    /// The host is to end a run.
    RunCancel {
        /// The run, as it was sent.
        run_id: String,
    },
    /// Several calls are to be made.
    Batch {
        /// Their arguments.
        items: Vec<Object>,
        /// What follows a failure.
        mode: Mode,
    },
}

/// What follows when a call of a batch fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// The rest is not run.
    #[default]
    Stop,
    /// The rest is run.
    Continue,
}

/// A call that could not be routed.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedCall {
    /// The command, to be echoed.
    pub command: Command,
    /// Why.
    pub failure: Failure,
}
