//! What becomes of a request: a validated call, several, or an answer that needs none.

use std::{sync::Arc, time::Duration};

use loggia_facade::{Action, Command, Detail, Envelope, Object};
use loggia_schema::{Mode, View};

use crate::catalog::Entry;

/// What becomes of a request.
pub(crate) enum CallPlan {
    /// Answered without running anything.
    Answer(Box<Envelope>),
    /// To be run.
    Run(Box<PlannedCall>),
    /// About a run, or about the caller's runs.
    AboutRun(RunQuery),
    /// Several calls, all of them checked.
    Batch(Box<PlannedBatch>),
}

/// A call that passed every check that needs no running.
pub(crate) struct PlannedCall {
    /// The version that will answer, whatever is reloaded meanwhile.
    pub entry: Arc<Entry>,
    /// The action's place in the surface.
    pub action: usize,
    /// Echoed in the envelope.
    pub command: Command,
    /// Valid, with defaults.
    pub params: Object,
    /// What a default or a coercion changed.
    pub resolved: Object,
    /// All parameters, as far as they may be shown; only where the call may become a run or must be confirmed.
    pub inputs: Object,
    /// How much is wanted back.
    pub detail: Detail,
    /// Whether the caller waits for the result, if it says so.
    pub wait: Option<bool>,
    /// The caller says that the person agreed.
    pub confirmed: bool,
    /// A shorter wall clock, from the request.
    pub timeout: Option<Duration>,
    /// From the request.
    pub idempotency_key: Option<String>,
}

impl PlannedCall {
    /// What will be run.
    pub(crate) fn action(&self) -> &Action {
        &self.entry.surface().actions[self.action]
    }
}

/// What is wanted of a run.
pub(crate) struct RunQuery {
    /// Through whose tool.
    pub entry: Arc<Entry>,
    /// Echoed in the envelope.
    pub command: Command,
    /// What is wanted.
    pub request: RunRequest,
    /// The tool that was called.
    pub view: View,
}

/// What is wanted of a run.
pub(crate) enum RunRequest {
    /// Which there are.
    List,
    /// How it stands.
    Status {
        /// The run, as it was sent.
        run_id: String,
        /// With what it said meanwhile.
        include_trace: bool,
        /// Not before it has ended, if the caller says so.
        wait: bool,
    },
    /// Its end.
    Cancel {
        /// The run, as it was sent.
        run_id: String,
    },
}

/// Several calls of one facade, all of them checked.
pub(crate) struct PlannedBatch {
    /// The version that answers all of them.
    pub entry: Arc<Entry>,
    /// Echoed in the envelope.
    pub command: Command,
    /// In their order.
    pub items: Vec<PlannedCall>,
    /// What follows a failure.
    pub mode: Mode,
    /// Whether the caller waits for the result, if it says so.
    pub wait: Option<bool>,
}
