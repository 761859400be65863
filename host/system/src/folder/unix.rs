//! Owner and mode decide who may use a folder.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::Path,
};

/// Creates a folder and those above it that are missing, for this user only.
///
/// # Errors
///
/// If it cannot be created.
pub fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a folder if it is missing, and fails if others own it or can write to it. An existing folder keeps its mode: it
/// may hold more than our files.
///
/// # Errors
///
/// If it cannot be created, belongs to another user, or is writable by others.
pub fn ensure_private(path: &Path) -> io::Result<&Path> {
    create_private(path)?;
    let meta = fs::metadata(path)?;
    let message = if meta.uid() != rustix::process::geteuid().as_raw() {
        "the folder belongs to another user"
    } else if meta.mode() & 0o022 != 0 {
        "others can write to the folder: take that right from them (chmod go-w), or choose another folder"
    } else {
        return Ok(path);
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

/// Writes the names of a folder to the disk, so that they survive a power failure too.
///
/// # Errors
///
/// If the folder cannot be opened, or the disk fails.
pub fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
