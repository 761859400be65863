//! Inputs and outputs of a store.

/// A space of a plugin's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateSpace {
    /// Shared by all callers.
    Shared,
    /// One caller's own, by an opaque key.
    Caller([u8; 32]),
}

/// One key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateEntry {
    /// UTF-8, at most 1 KiB, ordered by bytes.
    pub key: String,
    /// At most 1 MiB.
    pub value: Vec<u8>,
    /// Version of the commit that wrote it: from one counter per store, never repeated.
    pub version: u64,
}

/// One page of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatePage {
    /// In the order of their keys' bytes.
    pub items: Vec<StateEntry>,
    /// True if there are further entries after the last.
    pub more: bool,
    /// The store's counter when the page was read: a further page that asks for it is of the same state, or fails.
    pub revision: u64,
}

/// A change of one key, and the condition for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChange {
    /// The key.
    pub key: String,
    /// Condition that must hold before.
    pub expect: ChangeCondition,
    /// Operation on the key.
    pub operation: ChangeOperation,
}

/// Condition on a key before a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeCondition {
    /// None.
    Any,
    /// The key is missing.
    Absent,
    /// The key has this version.
    Version(u64),
}

/// Operation of a commit on a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeOperation {
    /// None: only the condition counts.
    Check,
    /// Writes it.
    Put(Vec<u8>),
    /// Writes it with a time of expiry, in milliseconds since 1970.
    PutUntil(Vec<u8>, u64),
    /// Deletes it, if it exists.
    Delete,
}

/// Error of a store.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The conditions on these keys did not hold, so nothing was written.
    #[error("the state has changed: {}", .0.join(", "))]
    Conflict(Vec<String>),
    /// The store was written to since the scan's first page.
    #[error("the state has changed since the scan began")]
    Moved,
    /// The commit would make the store larger than its quota; bytes.
    #[error("the state would take {needed} bytes, and may take {quota}")]
    Quota {
        /// Bytes that the store would take.
        needed: u64,
        /// Bytes that it may take.
        quota: u64,
    },
    /// The request is invalid.
    #[error("{0}")]
    Invalid(String),
    /// Another process held the store for too long.
    #[error("the state is busy")]
    Busy,
    /// The file cannot be read or written.
    #[error("the state cannot be used: {0}")]
    Storage(String),
}
