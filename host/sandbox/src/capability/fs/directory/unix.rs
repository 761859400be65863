//! By its descriptor.

use std::{fs::File, io, path::Path};

use rustix::fs::{Dir, Mode, OFlags};

/// Opens a directory for reading.
pub(in super::super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Counts entries, this many at most.
pub(in super::super) fn count_entries(dir: &File, max: usize) -> io::Result<usize> {
    Ok(Dir::read_from(dir)?.take(max).count())
}
