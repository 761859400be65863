//! The gate's port by tables that many hosts share.
//!
//! ```text
//! operations ─▶ one thread: what has come in meanwhile, in one transaction and one round trip ─▶ PostgreSQL
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `journal.rs` | the adapter of the gate's port |
//! | `options.rs` | its options |
//! | `committer.rs` | transactions: in one round trip, and again after a connection was lost |
//! | `session.rs` | the connection of transactions |
//! | `statements.rs` | SQL |
//! | `work.rs` | operations on runs |
//! | `approvals.rs` | the gate's store of approvals |
//! | `lease.rs` | leases that show which hosts live |
//! | `hosts.rs` | the hosts, for operators |
//! | `retention.rs` | removing ended runs by age and size |

mod approvals;
mod committer;
mod hosts;
#[allow(clippy::module_inception, reason = "the adapter itself")]
mod journal;
mod lease;
mod options;
mod retention;
mod session;
mod statements;
mod work;

pub use hosts::{HostSummary, list_hosts};
pub use journal::PostgresJournal;
pub use lease::HostLabel;
pub use options::JournalOptions;
