//! Readers of a new file.

/// Readers of a new file. On Windows, they are those of its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileReaders {
    /// All users, since the server may run as another one.
    Everyone,
    /// As of any new file: the umask applies.
    Default,
}
