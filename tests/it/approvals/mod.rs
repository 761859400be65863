//! Approvals of operators, for calls whose clients cannot ask their users: over the real process, decided at the command line, on
//! the admin listener, and by a signed webhook.
//!
//! | file | concept |
//! |---|---|
//! | `stage.rs` | a folder whose action needs consent, and what an operator does |
//! | `commands.rs` | `loggia approvals` |
//! | `listener.rs` | the admin listener |
//! | `webhook.rs` | messages and decisions of a webhook |
//! | `questions.rs` | questions of workflows |
//! | `audit.rs` | lines of the audit trail |

mod audit;
mod commands;
mod listener;
mod questions;
pub(crate) mod stage;
mod webhook;
