//! Plans of a request: a validated call, several calls, or an answer that needs no call.

use std::{sync::Arc, time::Duration};

use loggia_facade::{Action, Command, Detail, Envelope, Object};
use loggia_schema::{BatchMode, ToolView};

use crate::catalog::CatalogEntry;

/// Plan of a request.
pub(crate) enum CallPlan {
    /// Answered without a call.
    Answer(Box<Envelope>),
    /// A description of the facade.
    Description(Arc<CatalogEntry>, Box<Envelope>),
    /// A call to run.
    Run(Box<PlannedCall>),
    /// A question about a result that was cut, by its handle.
    KeptResult { facade: String, command: Command, handle: String },
    /// A query about one run, or about all of the caller's runs.
    AboutRun(RunQuery),
    /// Several validated calls.
    Batch(Box<PlannedBatch>),
}

impl CallPlan {
    /// Returns the code of the failure, if the request is refused.
    pub(crate) fn refusal(&self) -> Option<&str> {
        match self {
            Self::Answer(envelope) => envelope.outcome.as_ref().err().map(|failure| failure.code.as_str()),
            _ => None,
        }
    }
}

/// A validated call.
pub(crate) struct PlannedCall {
    /// Version of the facade that answers, also if it is reloaded before.
    pub entry: Arc<CatalogEntry>,
    /// Index of the action in the surface.
    pub action: usize,
    /// Echoed in the envelope.
    pub command: Command,
    /// Validated parameters with defaults.
    pub params: Object,
    /// The same as JSON, once the audit trail has needed it.
    pub params_text: Option<String>,
    /// Parameters that a default or a coercion changed.
    pub resolved: Object,
    /// All parameters, redacted. Only of a call that may become a run or must be confirmed.
    pub inputs: Object,
    /// Detail of the result.
    pub detail: Detail,
    /// Value of `wait`, if the caller sent it.
    pub wait: Option<bool>,
    /// True if the caller sent `confirm: true`.
    pub confirmed: bool,
    /// Code that completes the caller's login, if the caller sent one.
    pub login_code: Option<String>,
    /// Shorter wall clock from the request.
    pub timeout: Option<Duration>,
    /// Idempotency key from the request.
    pub idempotency_key: Option<String>,
}

impl PlannedCall {
    /// Action to run.
    pub(crate) fn action(&self) -> &Action {
        &self.entry.surface().actions[self.action]
    }
}

/// A `run_status` or `run_cancel` request.
pub(crate) struct RunQuery {
    /// Facade whose tool was called.
    pub entry: Arc<CatalogEntry>,
    /// Echoed in the envelope.
    pub command: Command,
    /// Operation.
    pub request: RunRequest,
    /// View of the tool that was called.
    pub view: ToolView,
}

/// Operation on runs.
pub(crate) enum RunRequest {
    /// Lists the caller's runs.
    List,
    /// Reports the status of a run.
    Status {
        /// Handle as the client sent it.
        run_id: String,
        /// Includes progress and log lines.
        include_trace: bool,
        /// Waits for the end of the run.
        wait: bool,
    },
    /// Cancels a run.
    Cancel {
        /// Handle as the client sent it.
        run_id: String,
    },
}

/// Several validated calls of one facade.
pub(crate) struct PlannedBatch {
    /// Version of the facade that answers all of them.
    pub entry: Arc<CatalogEntry>,
    /// Echoed in the envelope.
    pub command: Command,
    /// Calls in the order of the request.
    pub items: Vec<PlannedCall>,
    /// Behaviour after a failed item.
    pub mode: BatchMode,
    /// Value of `wait`, if the caller sent it.
    pub wait: Option<bool>,
}
