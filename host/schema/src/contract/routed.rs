//! The result of routing a call.

use loggia_facade::{Command, Detail, Failure, Object};

/// A routed call. Its parameters are not validated yet.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutedCall {
    /// The command to echo.
    pub command: Command,
    /// The requested operation.
    pub target: CallTarget,
    /// The requested level of detail.
    pub detail: Detail,
    /// Whether the caller wants to wait for the result, if specified.
    pub wait: Option<bool>,
    /// Whether the caller confirms the call, if specified.
    pub confirm: Option<bool>,
    /// The code that completes the caller's login, if the facade takes one.
    pub login_code: Option<String>,
}

/// The requested operation.
#[derive(Debug, Clone, PartialEq)]
pub enum CallTarget {
    /// Runs an action of the facade.
    Action {
        /// The index of the action in the surface.
        action: usize,
        /// The parameters, as sent.
        params: Object,
    },
    /// Describes the facade, some of its actions, or one.
    Describe(DescribeRequest),
    /// Returns the status of a run, or lists the caller's runs.
    RunStatus {
        /// The id of the run, as sent.
        run_id: Option<String>,
        /// Whether to include the trace.
        include_trace: bool,
    },
    /// Cancels a run.
    RunCancel {
        /// The id of the run, as sent.
        run_id: String,
    },
    /// Makes several calls.
    Batch {
        /// The arguments of each call.
        items: Vec<Object>,
        /// The reaction to a failure.
        mode: BatchMode,
    },
}

/// The subject of `describe`: the facade, unless anything is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DescribeRequest {
    /// The name of the only action, as sent. Everything else is ignored then.
    pub of: Option<String>,
    /// Words by which to find actions.
    pub query: Option<String>,
    /// The group of the actions.
    pub group: Option<String>,
    /// The place at which to continue.
    pub cursor: Option<String>,
}

/// The reaction of a batch to a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BatchMode {
    /// Skips the remaining calls.
    #[default]
    Stop,
    /// Makes the remaining calls.
    Continue,
}

/// A call that could not be routed.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedCall {
    /// The command to echo.
    pub command: Command,
    /// The reason.
    pub failure: Failure,
}
