//! Serial number of the volume, and index of the file, which only an open handle has.

use std::{
    fs::{File, OpenOptions},
    io,
    os::windows::fs::OpenOptionsExt,
    path::Path,
};

use windows_sys::Win32::Storage::FileSystem::{FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT};

pub(super) fn of_target(path: &Path) -> io::Result<(u64, u64)> {
    of_file(&open(path, FILE_FLAG_BACKUP_SEMANTICS)?)
}

pub(super) fn of_name(path: &Path) -> io::Result<(u64, u64)> {
    of_file(&open(path, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)?)
}

pub(super) fn of_file(file: &File) -> io::Result<(u64, u64)> {
    let information = winapi_util::file::information(file)?;
    Ok((information.volume_serial_number(), information.file_index()))
}

/// Opens a file or folder for its metadata alone, which needs no right to read it and hinders no one.
fn open(path: &Path, flags: u32) -> io::Result<File> {
    OpenOptions::new().access_mode(0).custom_flags(flags).open(path)
}
