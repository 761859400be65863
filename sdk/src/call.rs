//! Context of a call for its action, and operations during the call.

use std::time::{Duration, Instant};

use crate::{Failure, Level, Result, host};

/// The call that an action answers. An action gets it by taking `call: &Call`.
///
/// ```
/// # use loggia_sdk::prelude::*;
/// # struct Notes;
/// /// Notes.
/// #[facade]
/// impl Notes {
///     /// List all notes.
///     #[action(read, details)]
///     fn list(&self, call: &Call) -> Result<Vec<String>> {
///         call.progress(0.0, None, Some("reading"));
///         Ok(match call.detail() {
///             Detail::Minimal => vec!["n_0001".into()],
///             _ => vec!["n_0001: buy milk".into()],
///         })
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Call {
    pub(crate) facts: Facts,
    deadline: Instant,
}

/// Context of a call from the host, besides its parameters.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub id: String,
    pub action: String,
    pub detail: Detail,
    pub time_left: Duration,
    pub caller: Option<String>,
    pub idempotency_key: Option<String>,
}

impl Call {
    /// Starts the clock: so only an action that takes its call pays for reading it.
    pub(crate) fn new(facts: Facts) -> Self {
        let now = Instant::now();
        let deadline = now.checked_add(facts.time_left).unwrap_or(now);
        Self { facts, deadline }
    }

    /// Names the call in the host's logs.
    pub fn id(&self) -> &str {
        &self.facts.id
    }

    /// Name of the action, even if it was called by an alias.
    pub fn action(&self) -> &str {
        &self.facts.action
    }

    /// Level of detail that the caller requests. An action that uses it must declare that: `#[action(read, details)]`.
    /// If [`detail`](macro@crate::detail) marks the result's fields, neither is needed.
    pub fn detail(&self) -> Detail {
        self.facts.detail
    }

    /// Wall-clock time until the host ends the call. Zero after that.
    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Opaque name of the caller, the same for each of its calls; only if the policy grants it (`caller = true`).
    pub fn caller(&self) -> Option<&str> {
        self.facts.caller.as_deref()
    }

    /// Key that identifies retries of the same call. A long-running action that is `read` or `idempotent` has one if the host records
    /// runs: if a restart interrupts the run, the host makes the call again with it, and the action can go on from a checkpoint in
    /// its state.
    pub fn idempotency_key(&self) -> Option<&str> {
        self.facts.idempotency_key.as_deref()
    }

    /// Writes a line to the host's log. See also [`info!`](crate::info) and its neighbours.
    pub fn log(&self, level: Level, message: &str) {
        host::log(level, message);
    }

    /// Reports progress to the caller. Cheap: the host only forwards the latest.
    pub fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        host::progress(done, total, message);
    }

    /// Tests whether the caller has disconnected or cancelled the call.
    pub fn is_cancelled(&self) -> bool {
        host::is_cancelled()
    }

    /// Ends the action if the caller has disconnected or cancelled: `call.checkpoint()?` in a loop.
    ///
    /// # Errors
    ///
    /// `cancelled`, if so.
    pub fn checkpoint(&self) -> Result<()> {
        if self.is_cancelled() { Err(Failure::cancelled()) } else { Ok(()) }
    }
}

/// Level of detail of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Detail {
    /// Only identifying fields.
    Minimal,
    /// The usual fields.
    #[default]
    Standard,
    /// Everything.
    Full,
}

/// Effect of an action. The host enforces it: see the README.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Adds or changes something, undoably.
    Write,
    /// May lose data permanently.
    Destructive,
}
