//! Types for low-level access to the state by keys and bytes.

/// One key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Vec<u8>,
    /// Version of the commit that wrote it. From one counter for the whole state, never repeated.
    pub version: u64,
}

impl Entry {
    pub(crate) fn new(key: String, value: Vec<u8>, version: u64) -> Self {
        Self { key, value, version }
    }
}

/// One part of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entries {
    /// Ordered by key.
    pub items: Vec<Entry>,
    /// Whether there are more entries after the last.
    pub more: bool,
    /// The state's counter at the time of the read.
    pub revision: u64,
}

impl Entries {
    pub(crate) fn new(items: Vec<Entry>, more: bool, revision: u64) -> Self {
        Self { items, more, revision }
    }
}

/// Expectation for a key at commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expect {
    /// No expectation.
    #[default]
    Any,
    /// The key does not exist.
    Absent,
    /// The key has this version.
    Version(u64),
}

impl Expect {
    /// Expects the version that was read.
    pub(super) fn unchanged(seen: Option<&Entry>) -> Self {
        seen.map_or(Self::Absent, |entry| Self::Version(entry.version))
    }
}

/// Operation of a commit on a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// None: only the expectation is checked.
    Check,
    /// Writes this value.
    Put(Vec<u8>),
    /// Writes this value with an expiry time, in milliseconds since 1970.
    PutUntil(Vec<u8>, u64),
    /// Deletes the key if it exists.
    Delete,
}

/// One key of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Key.
    pub key: String,
    /// Expectation.
    pub expect: Expect,
    /// Operation.
    pub operation: Operation,
}

impl Change {
    /// A change that expects nothing of the key.
    pub fn new(key: impl Into<String>, operation: Operation) -> Self {
        Self { key: key.into(), expect: Expect::Any, operation }
    }

    /// Writes a value.
    pub fn put(key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        Self::new(key, Operation::Put(value.into()))
    }

    /// Deletes a key if it exists.
    pub fn delete(key: impl Into<String>) -> Self {
        Self::new(key, Operation::Delete)
    }

    /// Changes nothing, but fails the commit if the key does not meet the expectation.
    pub fn check(key: impl Into<String>, expect: Expect) -> Self {
        Self::new(key, Operation::Check).expect(expect)
    }

    /// Sets the expectation.
    #[must_use]
    pub fn expect(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }

    /// Only if the key has this version.
    #[must_use]
    pub fn at(self, version: u64) -> Self {
        self.expect(Expect::Version(version))
    }

    /// Expects that the key does not exist.
    #[must_use]
    pub fn absent(self) -> Self {
        self.expect(Expect::Absent)
    }
}
