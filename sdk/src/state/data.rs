//! What goes to the state and comes from it, as keys and bytes.

/// One key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Vec<u8>,
    /// Of the commit that wrote it. From one counter for the whole state, never repeated.
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
    /// There are further ones after the last.
    pub more: bool,
    /// The state's counter when the part was read.
    pub revision: u64,
}

impl Entries {
    pub(crate) fn new(items: Vec<Entry>, more: bool, revision: u64) -> Self {
        Self { items, more, revision }
    }
}

/// What must hold of a key before a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expect {
    /// Nothing.
    #[default]
    Any,
    /// There is nothing under it.
    Absent,
    /// It has this version.
    Version(u64),
}

impl Expect {
    /// That it is as it was when this was read.
    pub(super) fn unchanged(seen: Option<&Entry>) -> Self {
        seen.map_or(Self::Absent, |entry| Self::Version(entry.version))
    }
}

/// What a commit does with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Nothing: only what is expected of it counts.
    Check,
    /// Writes this value.
    Put(Vec<u8>),
    /// Writes this value, which is gone at this moment: milliseconds since 1970.
    PutUntil(Vec<u8>, u64),
    /// Takes it away, if it is there.
    Delete,
}

/// One key of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which key.
    pub key: String,
    /// What must hold before.
    pub expect: Expect,
    /// What is done.
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

    /// Takes a key away, if it is there.
    pub fn delete(key: impl Into<String>) -> Self {
        Self::new(key, Operation::Delete)
    }

    /// Changes nothing, but lets the commit fail where the key is not as expected.
    pub fn check(key: impl Into<String>, expect: Expect) -> Self {
        Self::new(key, Operation::Check).expect(expect)
    }

    /// Only if this holds of the key.
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

    /// Only if there is nothing under the key.
    #[must_use]
    pub fn absent(self) -> Self {
        self.expect(Expect::Absent)
    }
}
