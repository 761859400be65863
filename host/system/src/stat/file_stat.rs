//! What is compared.

/// Metadata that differs between two versions of a file. Times are seconds and nanoseconds since 1970.
///
/// On Windows, metadata has neither device nor inode, which are 0, and no time of change: `changed` is then the later of the
/// times of creation and modification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// Device of the file.
    pub device: u64,
    /// Number of the file on its device.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Time at which the content was written.
    pub modified: (i64, i64),
    /// Time at which content or metadata changed.
    pub changed: (i64, i64),
}
