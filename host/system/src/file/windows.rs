//! Access control lists are inherited from the folder.

use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    os::windows::fs::OpenOptionsExt,
    path::Path,
};

use tempfile::NamedTempFile;
use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_OPEN_REPARSE_POINT;

use super::readers::FileReaders;

/// Options to create a file, with the rights of its folder.
pub fn private_options() -> OpenOptions {
    OpenOptions::new()
}

/// Returns false: a list of rights is not looked into.
pub fn is_exposed(_meta: &Metadata) -> bool {
    false
}

/// Changes nothing: pipes are in no folder.
pub fn open_at_once(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Opens a link itself, which is no regular file.
pub fn open_no_link(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
}

/// Creates a temporary file in a folder, with the rights of the folder.
///
/// # Errors
///
/// If it cannot be created.
pub fn temporary_in(folder: &Path, prefix: &str, _readers: FileReaders) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(prefix).tempfile_in(folder)
}

/// Does nothing: a file belongs to the user who creates it, and others have the rights of its folder.
///
/// # Errors
///
/// None.
pub fn copy_owner(_from: &Metadata, _to: &File) -> io::Result<()> {
    Ok(())
}
