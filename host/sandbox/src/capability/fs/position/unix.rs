//! Positions of POSIX. Concurrent appends may overwrite each other.

use std::{fs::File, io, os::unix::fs::FileExt};

pub(in super::super) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(bytes, at)
}

pub(in super::super) fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

pub(in super::super) fn append(file: &File, bytes: &[u8]) -> io::Result<()> {
    file.write_all_at(bytes, file.metadata()?.len())
}
