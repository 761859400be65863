//! Runs that survive the host: what is recorded of them, and how they go on.
//!
//! The facade of a durable run appends entries; this room adds who called what, and the outcome. Entries are kept in memory
//! until something that is seen outside depends on them, so a run that changes nothing, and that its caller awaits, writes
//! nothing. Of a run whose facade is not durable, the call is recorded once its caller has its handle, with its trace and
//! its outcome; a restart ends it.
//!
//! | file | concept |
//! |---|---|
//! | `port.rs` | the journal that the host supplies |
//! | `head.rs` | the call of a run: its caller, action and parameters |
//! | `end.rs` | the end of a run: its outcome and trace |
//! | `scope.rs` | entries of the calls within a run |
//! | `recorder.rs` | records one run |
//! | `summary.rs` | a recorded run, for operators |
//! | `suite.rs` | what every journal must do (feature `testing`) |

mod end;
mod head;
mod port;
mod recorder;
mod scope;
#[cfg(any(test, feature = "testing"))]
pub mod suite;
mod summary;

pub use end::EndedRun;
pub(crate) use end::RunEnd;
pub(crate) use head::{KeptCall, RunHead};
pub use port::{
    ClaimedRun, Journal, JournalError, JournalFuture, NewRun, RetentionLimits, RunHolder, RunLease, StoredRun,
};
pub(crate) use recorder::RunRecorder;
pub use scope::own_entries;
pub use summary::RunSummary;
