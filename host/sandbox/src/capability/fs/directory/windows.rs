//! By its handle, from which its current path is read: Windows lists directories by their paths.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::windows::fs::OpenOptionsExt,
    path::Path,
};

use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_SHARE_READ, FILE_SHARE_WRITE,
};

/// Opens a directory for reading. It can be neither renamed nor removed meanwhile, so that its path stays the one of the
/// directory that was checked.
pub(in super::super) fn open(path: &Path) -> io::Result<File> {
    let dir = OpenOptions::new()
        .read(true)
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        .open(path)?;
    if dir.metadata()?.is_dir() { Ok(dir) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Counts entries, this many at most.
pub(in super::super) fn count_entries(dir: &File, max: usize) -> io::Result<usize> {
    Ok(fs::read_dir(winx::file::get_file_path(dir)?)?.take(max).count())
}
