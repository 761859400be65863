//! Decides which directories a client may name as its roots.

use std::path::PathBuf;

use loggia_system::FileIdentity;

/// Decides which directories a client may name. The host implements it, since it knows what it trusts.
pub trait RootFence: Send + Sync + 'static {
    /// Returns for each directory the reason why no plugin may have it, for the operator. Blocks for reading directories.
    fn refusals(&self, found: &[FoundRoot]) -> Vec<Option<String>>;
}

/// A directory that a client named and a policy allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRoot {
    /// Path as the client named it.
    pub named: PathBuf,
    /// Absolute path, without links.
    pub path: PathBuf,
    /// Identity of the opened directory.
    pub identity: FileIdentity,
    /// Whether it may be written.
    pub writable: bool,
}
