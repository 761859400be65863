//! Device and inode.

use std::{
    fs::{self, File, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
};

pub(super) fn of_target(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|meta| from_metadata(&meta))
}

pub(super) fn of_name(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|meta| from_metadata(&meta))
}

pub(super) fn of_file(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|meta| from_metadata(&meta))
}

fn from_metadata(meta: &Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}
