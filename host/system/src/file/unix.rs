//! Modes, and flags of `open`.

use std::{
    fs::{File, Metadata, OpenOptions, Permissions},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown},
    path::Path,
};

use rustix::fs::OFlags;
use tempfile::NamedTempFile;

use super::readers::FileReaders;

/// Options to create a file that only this user may use.
pub fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Tests whether others than its owner may use a file.
pub fn is_exposed(meta: &Metadata) -> bool {
    meta.mode() & 0o077 != 0
}

/// Makes opening a pipe return at once, instead of waiting for its other end.
pub fn open_at_once(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed())
}

/// Makes opening a link fail, and opening a pipe return at once.
pub fn open_no_link(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
}

/// Creates a temporary file in a folder.
///
/// # Errors
///
/// If it cannot be created.
pub fn temporary_in(folder: &Path, prefix: &str, readers: FileReaders) -> io::Result<NamedTempFile> {
    let mode = match readers {
        FileReaders::Everyone => 0o644,
        FileReaders::Default => 0o666,
    };
    let permissions = Permissions::from_mode(mode);
    tempfile::Builder::new().prefix(prefix).permissions(permissions).tempfile_in(folder)
}

/// Gives a file the owner of another.
///
/// # Errors
///
/// If this user may not do that.
pub fn copy_owner(from: &Metadata, to: &File) -> io::Result<()> {
    let current = to.metadata()?;
    if (current.uid(), current.gid()) == (from.uid(), from.gid()) {
        return Ok(());
    }
    fchown(to, Some(from.uid()), Some(from.gid()))
}
