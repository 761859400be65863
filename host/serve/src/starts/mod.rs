//! Workflows that start by themselves.
//!
//! The facades say when, the settings say in whose name: a rule whose service is not in the settings starts nothing. Several
//! hosts that share a journal look at the same clock; a start is recorded under a handle that follows from its cause, so only
//! the first of them counts.
//!
//! | file | concept |
//! |---|---|
//! | `schedule.rs` | pure: the times of a cron expression |
//! | `service.rs` | the identities of the settings |
//! | `cause.rs` | pure: the request and the handle of a start |
//! | `scheduler.rs` | starts what is due |
//! | `cursor.rs` | pure: how far the changes of a state have started a workflow |
//! | `state_watcher.rs` | starts what follows from changes of state |
//! | `hooks.rs` | starts what programs of other services ask for |

mod cause;
mod cursor;
mod hooks;
mod schedule;
mod scheduler;
mod service;
mod state_watcher;

pub use self::{
    hooks::WorkflowHooks,
    scheduler::Scheduler,
    service::{ServiceIdentity, to_services},
    state_watcher::StateWatcher,
};
