//! The store that the host supplies.

use super::record::{ApprovalClosing, ApprovalDecision, ApprovalRecord, StoredApproval};
use crate::journal::{JournalError, JournalFuture};

/// Durable store of approvals, which hosts and operators share.
pub trait ApprovalStore: Send + Sync + 'static {
    /// Opens an approval. If one with the same subject is open or decided, but not closed, that one is returned: the run that
    /// opened it goes on after a restart.
    fn open_approval(&self, record: ApprovalRecord) -> JournalFuture<ApprovalRecord>;

    /// Loads an approval.
    fn approval(&self, id: String) -> JournalFuture<Option<StoredApproval>>;

    /// Records a decision, if the approval has this subject and is open at the time of the decision.
    fn decide_approval(
        &self,
        id: String,
        subject: String,
        decision: ApprovalDecision,
    ) -> JournalFuture<DecisionOutcome>;

    /// Closes an approval. Returns false if it is unknown or closed: a decision is used once.
    fn close_approval(&self, id: String, closing: ApprovalClosing) -> JournalFuture<bool>;

    /// Lists approvals that are not closed, then the others, each newest first; at most so many.
    fn approvals(&self, most: usize) -> JournalFuture<Vec<StoredApproval>>;
}

/// Outcome of a decision.
#[derive(Debug, Clone, PartialEq)]
pub enum DecisionOutcome {
    /// It is recorded.
    Recorded,
    /// The approval is decided or closed, has expired, or is about something else than was decided.
    Refused(Box<StoredApproval>),
    /// There is no such approval.
    Unknown,
}

impl ApprovalRecord {
    /// Bytes for a store.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Text, numbers and JSON always serialise.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads the bytes of a store.
    ///
    /// # Errors
    ///
    /// If they are not those of a record.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JournalError> {
        serde_json::from_slice(bytes).map_err(|error| unreadable(&error))
    }
}

impl ApprovalDecision {
    /// Bytes for a store.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl StoredApproval {
    /// Reads the columns of a store.
    ///
    /// # Errors
    ///
    /// If they are not those of an approval.
    pub fn from_columns(
        record: &[u8],
        decision: Option<&[u8]>,
        closed: Option<&str>,
    ) -> Result<Self, JournalError> {
        let decision =
            decision.map(serde_json::from_slice).transpose().map_err(|error| unreadable(&error))?;
        let closed = closed.map(|name| ApprovalClosing::parse(name).ok_or_else(|| unreadable(&name)));
        Ok(Self { record: ApprovalRecord::from_bytes(record)?, decision, closed: closed.transpose()? })
    }
}

fn unreadable(reason: &dyn std::fmt::Display) -> JournalError {
    JournalError::Storage(format!("an approval cannot be read: {reason}"))
}
