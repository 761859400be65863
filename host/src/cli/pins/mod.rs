//! Commands for versions that wait for approval.
//!
//! | file | concept |
//! |---|---|
//! | `records.rs` | opens the lock of a state folder |
//! | `pending.rs` | `loggia pending` |
//! | `diff.rs` | `loggia diff` |
//! | `approve.rs` | `loggia approve` |
//! | `reject.rs` | `loggia reject` |

mod approve;
mod diff;
mod pending;
mod records;
mod reject;

pub use self::{approve::ApproveCommand, diff::DiffCommand, pending::PendingCommand, reject::RejectCommand};
