//! Workflows from end to end: files in the folder, the servers that they call, and real clients.
//!
//! | file | subject |
//! |---|---|
//! | `stage.rs` | shared helpers |
//! | `pages.rs` | the examples are the page's, to the letter |
//! | `examples.rs` | each example of the page runs |
//! | `approvals.rs` | questions to the person, in both lifecycles |
//! | `shown.rs` | publication and description of workflows |
//! | `follows.rs` | runs, progress and cancelling |
//! | `failures.rs` | reports and handling of failures |
//! | `together.rs` | many steps, and workflows that call workflows |
//! | `killed.rs` | runs and questions survive hosts that are killed |
//! | `sagas.rs` | runs that undo what they have done; dry runs |
//! | `starts.rs` | workflows that start by themselves |
//! | `state_starts.rs` | workflows that start when the state of a plugin has changed |
//! | `recorded.rs` | the operator's view of recorded runs |
//! | `reloads.rs` | files that are added, changed, broken and removed |
//! | `policies.rs` | restrictions by the operator |
//! | `commands.rs` | the commands, as a person or a script uses them |

mod approvals;
mod commands;
mod examples;
mod failures;
mod follows;
pub(crate) mod killed;
mod pages;
mod policies;
mod recorded;
mod reloads;
mod sagas;
mod shown;
pub(crate) mod stage;
mod starts;
mod state_starts;
mod together;
