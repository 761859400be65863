//! Windows moves the position of the file, which nothing here reads. Concurrent appends may overwrite each other.

use std::{fs::File, io, os::windows::fs::FileExt};

pub(in super::super) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    match file.seek_read(bytes, at) {
        // Beyond the end.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
        read => read,
    }
}

pub(in super::super) fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_write(bytes, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                at += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

pub(in super::super) fn append(file: &File, bytes: &[u8]) -> io::Result<()> {
    write_all_at(file, bytes, file.metadata()?.len())
}
