//! Versions that wait for an operator's approval, and `loggia.lock`, the record of those that were approved.
//!
//! ```text
//! admitted version ─▶ describe ─▶ decide (pure, by the lock) ─▶ served, or held until `loggia approve`
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `pinned_version.rs` | what identifies a version: digests, wants and grants |
//! | `canonical.rs` | pure: a surface as the text that its digest covers |
//! | `pin_change.rs` | how a version differs |
//! | `lock_document.rs` | the content of the lock, and its changes |
//! | `decide.rs` | pure: whether a version is served or waits |
//! | `lock_file.rs` | the lock in the state folder: sealed, shared by processes |
//! | `lock_rows.rs` | pure: the lock as rows of a database |
//! | `shared_lock.rs` | the lock in a database |
//! | `version_lock.rs` | one of the two |
//! | `version_store.rs` | files and surfaces of versions, by digest |
//! | `describe.rs` | an admitted plugin, or a guard, as such a version |
//! | `diff.rs` | pure: how a version differs from the approved one |
//! | `pin_report.rs` | what a host serves and holds, for the lock |
//! | `keeper.rs` | the lock as a host uses it |

mod canonical;
mod decide;
mod describe;
mod diff;

#[cfg(test)]
mod fixture;
mod keeper;
mod lock_document;
mod lock_file;
mod lock_rows;
mod pin_change;
mod pin_report;
mod pinned_version;
mod shared_lock;
mod version_lock;
mod version_store;

pub use decide::PinDecision;
pub use describe::{describe, describe_guard, pin_key};
pub use diff::{DiffSign, VersionDiff};
pub use keeper::{ListedVersion, LockState, PinKeeper};
pub use lock_document::{LockDocument, LockEntry, OperatorDecision, PendingVersion, format_now};
pub use lock_file::LockError;
pub use pin_change::PinChange;
pub use pin_report::{PinReport, PinSource};
pub use pinned_version::{GUARDS, PinnedVersion};
pub use version_lock::VersionLock;
