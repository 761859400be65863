//! Approvals: decisions of people about calls whose clients cannot ask anyone. The call waits, and an operator decides outside
//! of the client: at the command line, on the admin listener, or through a webhook.
//!
//! | file | concept |
//! |---|---|
//! | `record.rs` | an approval, as operators see it and stores keep it |
//! | `subject.rs` | pure: the digest of what is approved |
//! | `store.rs` | the store that the host supplies |
//! | `desk.rs` | opens approvals, waits for their decisions, and takes each once |
//! | `memory.rs` | approvals in memory (feature `testing`) |
//! | `suite.rs` | what every store must do (feature `testing`) |

mod desk;
#[cfg(any(test, feature = "testing"))]
pub mod memory;
mod record;
mod store;
mod subject;
#[cfg(any(test, feature = "testing"))]
pub mod suite;

pub(crate) use desk::ApprovalEnd;
pub use desk::{ApprovalDesk, ApprovalNotice, decide};
pub use record::{
    ApprovalClosing, ApprovalContent, ApprovalDecision, ApprovalRecord, ApprovalState, DecisionProblem,
    StoredApproval,
};
pub use store::{ApprovalStore, DecisionOutcome};
pub(crate) use subject::ApprovalSubject;
