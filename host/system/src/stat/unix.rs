//! All of it is in `stat`.

use std::{fs::Metadata, os::unix::fs::MetadataExt};

use super::file_stat::FileStat;

pub(super) fn from_metadata(meta: &Metadata) -> FileStat {
    FileStat {
        device: meta.dev(),
        inode: meta.ino(),
        size: meta.size(),
        modified: (meta.mtime(), meta.mtime_nsec()),
        changed: (meta.ctime(), meta.ctime_nsec()),
    }
}
