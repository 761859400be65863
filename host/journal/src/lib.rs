//! The journal of runs, from which they go on after a restart of the host, and the approvals of people: one SQLite file in the state folder, which several
//! hosts of one machine may share.
//!
//! ```text
//! operations ─▶ one thread, which commits what has come in meanwhile at once ─▶ journal.db
//! ```
//!
//! What is acknowledged is on the disk: it survives `kill -9` and a power failure. A host holds a lock on a file of its own
//! for as long as it lives, however it ends; its unfinished runs may be claimed as soon as that lock is free.
//!
//! | file | concept |
//! |---|---|
//! | `journal.rs` | the adapter of the gate's port |
//! | `committer.rs` | the thread that commits |
//! | `tables.rs` | the tables, and opening the file |
//! | `record.rs` | SQL: creating, appending, finishing |
//! | `query.rs` | SQL: claiming, loading, listing |
//! | `approvals.rs` | SQL: approvals |
//! | `retention.rs` | SQL: removing ended runs by age and size |
//! | `holder.rs` | locks that show which hosts live |

#![warn(unreachable_pub)]

mod approvals;
mod committer;
mod holder;
mod journal;
mod query;
mod record;
mod retention;
mod tables;
#[cfg(test)]
mod tests;

pub use journal::SqliteJournal;
