//! Metadata of a file, as its version.

use std::fs::Metadata;

use loggia_system::FileStat;
use serde::{Deserialize, Serialize};

/// Identifies a version of a file without reading it. Follows symbolic links, to detect the replaced target folder of a
/// Kubernetes mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    pub(super) fn from_metadata(meta: &Metadata) -> Self {
        let FileStat { device, inode, size, modified, changed } = FileStat::from_metadata(meta);
        Self { device, inode, size, modified, changed }
    }

    /// Returns its numbers, for hashes.
    pub(super) fn parts(&self) -> impl std::hash::Hash + use<> {
        (self.device, self.inode, self.size, self.modified, self.changed)
    }

    /// Size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }
}
