//! A file that may change while the server runs: looked at again and again, and read only when it is another than before.

use std::{
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// A file, and what it was like when it was last read well.
#[derive(Debug)]
pub(super) struct Watched {
    path: PathBuf,
    seen: Option<Stamp>,
}

/// What differs between two versions of a file: device, inode, size, and when it was written and replaced.
type Stamp = [i128; 5];

impl Watched {
    pub fn new(path: PathBuf) -> Self {
        Self { path, seen: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is read of it; none where it is what it was. Blocks.
    pub fn look<T, E: From<io::Error>>(
        &mut self,
        read: impl FnOnce(&Path) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        // Before it is read: what is written meanwhile is another version.
        let stamp = stamp(&self.path)?;
        if self.seen == Some(stamp) {
            return Ok(None);
        }
        let found = read(&self.path)?;
        self.seen = Some(stamp);
        Ok(Some(found))
    }
}

fn stamp(path: &Path) -> io::Result<Stamp> {
    let its = std::fs::metadata(path)?;
    let nanoseconds = |seconds: i64, more: i64| i128::from(seconds) * 1_000_000_000 + i128::from(more);
    let written = nanoseconds(its.mtime(), its.mtime_nsec());
    let changed = nanoseconds(its.ctime(), its.ctime_nsec());
    Ok([its.dev().into(), its.ino().into(), its.size().into(), written, changed])
}
