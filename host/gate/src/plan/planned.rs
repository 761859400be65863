//! What becomes of a request: a validated call, several, or an answer that needs none.

use std::{sync::Arc, time::Duration};

use loggia_facade::{Action, Command, Detail, Envelope, Object};
use loggia_schema::{BatchMode, ToolView};

use crate::catalog::Entry;

/// What becomes of a request.
pub enum Plan {
    /// Answered without running anything.
    Answer(Box<Envelope>),
    /// To be run.
    Run(Box<Planned>),
    /// About a run, or about the caller's runs.
    AboutRun(AboutRun),
    /// Several calls, all of them checked.
    Batch(Box<Batch>),
}

/// A call that passed every check that needs no running.
pub struct Planned {
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

impl Planned {
    /// What will be run.
    pub fn action(&self) -> &Action {
        &self.entry.surface().actions[self.action]
    }
}

/// What is wanted of a run.
pub struct AboutRun {
    /// Through whose tool.
    pub entry: Arc<Entry>,
    /// Echoed in the envelope.
    pub command: Command,
    /// What is wanted.
    pub wanted: Wanted,
    /// The tool that was called.
    pub view: ToolView,
}

/// What is wanted of a run.
pub enum Wanted {
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
pub struct Batch {
    /// The version that answers all of them.
    pub entry: Arc<Entry>,
    /// Echoed in the envelope.
    pub command: Command,
    /// In their order.
    pub items: Vec<Planned>,
    /// What follows a failure.
    pub mode: BatchMode,
    /// Whether the caller waits for the result, if it says so.
    pub wait: Option<bool>,
}
