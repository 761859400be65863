//! What goes in and out of a store.

/// Whose state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// The plugin's, for all callers alike.
    Shared,
    /// One caller's, by an opaque key.
    Caller([u8; 32]),
}

/// One key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// UTF-8, at most 1 KiB, ordered by bytes.
    pub key: String,
    /// At most 1 MiB.
    pub value: Vec<u8>,
    /// Of the commit that wrote it: from one counter per store, never repeated.
    pub version: u64,
}

/// One page of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entries {
    /// In the order of their keys' bytes.
    pub items: Vec<Entry>,
    /// There are further ones after the last.
    pub more: bool,
    /// The store's counter when the page was read: a further page that asks for it is of the same state, or a conflict.
    pub revision: u64,
}

/// What must hold of a key, and what is done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which key.
    pub key: String,
    /// What must hold before.
    pub expect: Expect,
    /// What is done.
    pub operation: Operation,
}

/// What must hold of a key before a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Nothing.
    Any,
    /// It is not there.
    Absent,
    /// It is there with this version.
    Version(u64),
}

/// What a commit does with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Nothing: only its expectation counts.
    Check,
    /// Writes it.
    Put(Vec<u8>),
    /// Writes it until a moment, in milliseconds since 1970.
    PutUntil(Vec<u8>, u64),
    /// Takes it away, if it is there.
    Delete,
}

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The expectations of these keys did not hold, so nothing was written.
    #[error("the state has changed: {}", .0.join(", "))]
    Conflict(Vec<String>),
    /// The store was written to since the scan's first page.
    #[error("the state has changed since the scan began")]
    Moved,
    /// The commit would make the store larger than its quota; bytes.
    #[error("the state would take {needed} bytes, and may take {quota}")]
    Quota {
        /// What it would take.
        needed: u64,
        /// What it may take.
        quota: u64,
    },
    /// The request itself is wrong.
    #[error("{0}")]
    Invalid(String),
    /// Another process holds the store for too long.
    #[error("the state is busy")]
    Busy,
    /// The file cannot be read or written.
    #[error("the state cannot be used: {0}")]
    Storage(String),
}
