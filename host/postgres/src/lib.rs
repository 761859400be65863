//! What many hosts share, in one schema of a PostgreSQL database: the journal of runs, the state of plugins, messages, and counts
//! of callers' requests.
//!
//! | file | concept |
//! |---|---|
//! | `database_url.rs` | whom to connect to, and how the connection is protected |
//! | `tls.rs` | TLS |
//! | `access.rs` | connections |
//! | `migrations.rs` | the tables, by numbered migrations |
//! | `error.rs` | errors in words for operators |
//! | `params.rs`, `pipeline.rs` | parameters of statements; statements that are sent together |
//! | `journal/` | the journal of runs |
//! | `state/` | the state of plugins |
//! | `mail/` | messages between hosts |
//! | `usage.rs` | counts of callers' requests |
//! | `testing.rs` | a private server, for tests |

#![warn(unreachable_pub)]

mod access;
mod database_url;
mod error;
mod journal;
mod mail;
mod migrations;
mod params;
mod pipeline;
mod state;
#[cfg(all(unix, any(test, feature = "testing")))]
pub mod testing;
#[cfg(all(unix, test))]
mod tests;
mod tls;
mod usage;

pub use access::{DatabaseAccess, DatabaseOptions, DatabasePassword, SCHEMA};
pub use database_url::without_password;
pub use error::PostgresError;
pub use journal::{HostLabel, HostSummary, JournalOptions, PostgresJournal, list_hosts};
pub use mail::PostgresMail;
pub use state::PostgresStores;
pub use usage::{CallerCount, SharedUsage};
