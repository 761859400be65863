//! The gate: the only way to run anything.
//!
//! MCP calls, CLI calls, workflow steps and calls that a plugin makes to another facade all pass here, so the same
//! checks hold wherever a call began.
//!
//! ```text
//! start ─▶ plan (route, resolve, validate) ─▶ permits ─▶ dispatch ─▶ envelope
//!                                                          │
//!             Exec ◀── progress · asks · done ◀── Line ◀───┘
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `origin.rs` | who calls |
//! | `rules.rs` | what the operator's policy says of a facade's calls |
//! | `plan.rs` | pure: from a request to a validated call, or to an answer without one |
//! | `permits.rs` | who may run now |
//! | `run.rs` | one call from its request to its envelope: state, clock, questions |
//! | `line.rs` | the port that a facade is given |
//! | `executor.rs` | where a call runs: inline first, then on the second runtime |
//! | `exec.rs` | the front side: what a handler polls |
//! | `parking.rs` | calls that wait for a person |
//! | `runs.rs` | calls that outlived their request |

mod exec;
mod executor;
mod line;
mod origin;
mod parking;
mod permits;
mod plan;
mod rules;
mod run;
mod runs;

use std::{borrow::Cow, sync::Arc};

use loggia_facade::{Failure, Request, code};

pub use exec::{Event, Exec};
pub use executor::{Executor, Inline};
pub use origin::{Caller, Origin};
pub use permits::Pace;
pub use rules::{Clocks, InvokeRule, Rules};
pub use run::RunId;

use crate::catalog::Catalog;

/// A text that a plugin had a part in, on one line of the log: it must not forge another line, nor steer a terminal.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        text.chars()
            .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
            .collect()
    } else {
        text.into()
    }
}

/// Everything that calls share.
pub(crate) struct Shared {
    pub catalog: Arc<Catalog>,
    pub executor: Executor,
    pub permits: permits::Permits,
    pub parking: parking::Parking,
    pub runs: runs::Runs,
}

/// The front side of the gate. Cheap to clone.
#[derive(Clone)]
pub struct Gate {
    shared: Arc<Shared>,
}

impl Gate {
    /// A gate over a catalog. Calls that do not end at once go on in the executor.
    pub fn new(catalog: Arc<Catalog>, executor: Executor) -> Self {
        let shared = Shared {
            catalog,
            executor,
            permits: permits::Permits::default(),
            parking: parking::Parking::default(),
            runs: runs::Runs::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The facades that the gate leads to.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.shared.catalog
    }

    /// Begins a call. Nothing runs before the first [`Exec::next`] or [`Exec::detach`].
    pub fn start(&self, origin: Origin, request: Request) -> Exec {
        match plan::plan(&self.shared.catalog.snapshot(), request) {
            plan::Plan::Answer(envelope) => Exec::answered(envelope),
            plan::Plan::Run(planned) => Exec::begin(&self.shared, origin, *planned),
        }
    }

    /// Takes up a call that was detached.
    ///
    /// # Errors
    ///
    /// `not_found` for a run that does not exist, has been forgotten, or belongs to somebody else: which of these
    /// it is, is not told.
    pub fn attach(&self, run: &RunId, who: &Caller) -> Result<Exec, Failure> {
        let run = self.shared.runs.get(run).filter(|run| run.caller.is(who));
        let run = run.ok_or_else(|| {
            Failure::new(code::NOT_FOUND, "not found: no such run")
                .hint("runs are kept for an hour, and not across a restart of the server")
        })?;
        Ok(Exec::attached(run))
    }
}

#[cfg(test)]
pub(crate) mod tests;
