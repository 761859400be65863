//! Workflows from end to end: files in the folder, the servers that they call, and real clients.
//!
//! | file | what it shows |
//! |---|---|
//! | `stage.rs` | what the others share |
//! | `pages.rs` | the examples are the page's, to the letter |
//! | `examples.rs` | each example of the page runs |
//! | `approvals.rs` | questions to the person, in both lifecycles |
//! | `shown.rs` | how workflows are published and described |
//! | `follows.rs` | runs, progress and cancelling |
//! | `failures.rs` | what a failure tells, and what follows it |
//! | `together.rs` | many steps, and workflows that call workflows |
//! | `reloads.rs` | files that come, change, break and go |
//! | `policies.rs` | what an operator narrows |
//! | `commands.rs` | the commands, as a person or a script uses them |

mod approvals;
mod commands;
mod examples;
mod failures;
mod follows;
mod pages;
mod policies;
mod reloads;
mod shown;
mod stage;
mod together;
