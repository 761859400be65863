//! Linux appends atomically to a file that was not opened for it.

use std::{fs::File, io, os::unix::fs::FileExt};

use rustix::io::{Errno, ReadWriteFlags, pwritev2};

pub(in super::super) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(bytes, at)
}

pub(in super::super) fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

pub(in super::super) fn append(file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = match pwritev2(file, &[io::IoSlice::new(bytes)], 0, ReadWriteFlags::APPEND) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => written,
            Err(Errno::INTR) => 0,
            // Unsupported by some file systems: there, concurrent appends may overwrite each other.
            Err(Errno::NOSYS | Errno::NOTSUP) => return file.write_all_at(bytes, file.metadata()?.len()),
            Err(error) => return Err(error.into()),
        };
        bytes = &bytes[written..];
    }
    Ok(())
}
