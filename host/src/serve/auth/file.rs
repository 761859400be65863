//! A file that may change while the server runs: looked at again and again, and read only when it is another than before.

use std::{
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// A file, and what it was like when it was last read well.
#[derive(Debug)]
pub(super) struct WatchedFile {
    path: PathBuf,
    /// A version counts when it is as old as this: a file that is written in place is empty first, and then half of what it
    /// is to be.
    settled: Duration,
    seen: Option<FileStamp>,
}

/// What differs between two versions of a file: device, inode, size, and when it was written and replaced, in nanoseconds.
type FileStamp = [i128; 5];

impl WatchedFile {
    pub fn new(path: PathBuf, settled: Duration) -> Self {
        Self { path, settled, seen: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is read of it; none where it is what it was, or is being written. Blocks.
    pub fn read_if_changed<T, E: From<io::Error>>(
        &mut self,
        read: impl FnOnce(&Path) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let stamp = stamp(&self.path)?;
        if self.seen == Some(stamp) || age(stamp).is_some_and(|age| age < self.settled) {
            return Ok(None);
        }
        let found = read(&self.path)?;
        // Written while it was read: what was read may be of neither version.
        if self::stamp(&self.path)? != stamp {
            return Ok(None);
        }
        self.seen = Some(stamp);
        Ok(Some(found))
    }
}

fn stamp(path: &Path) -> io::Result<FileStamp> {
    let its = std::fs::metadata(path)?;
    // A pipe gives what it holds once, and to open one may take for ever.
    if !its.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let nanoseconds = |seconds: i64, more: i64| i128::from(seconds) * 1_000_000_000 + i128::from(more);
    let written = nanoseconds(its.mtime(), its.mtime_nsec());
    let changed = nanoseconds(its.ctime(), its.ctime_nsec());
    Ok([its.dev().into(), its.ino().into(), its.size().into(), written, changed])
}

/// How long a version has been there; none for one of the future, which a clock that was set back makes of it.
fn age([.., changed]: FileStamp) -> Option<Duration> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let then = Duration::from_nanos(u64::try_from(changed).ok()?);
    now.checked_sub(then)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn text(path: &Path) -> io::Result<String> {
        fs::read_to_string(path)
    }

    #[test]
    fn a_file_is_read_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut file = WatchedFile::new(path.clone(), Duration::ZERO);
        assert!(file.read_if_changed(text).is_err(), "it is not there");
        fs::write(&path, "one").unwrap();
        assert_eq!(file.read_if_changed(text).unwrap().as_deref(), Some("one"));
        assert_eq!(file.read_if_changed(text).unwrap(), None);
        // What could not be read is read again.
        fs::write(folder.path().join("new"), "two").unwrap();
        fs::rename(folder.path().join("new"), &path).unwrap();
        assert!(file.read_if_changed(|_| Err::<(), _>(io::Error::other("broken"))).is_err());
        assert_eq!(file.read_if_changed(text).unwrap().as_deref(), Some("two"));
    }

    #[test]
    fn a_file_being_written_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "half").unwrap();
        let mut file = WatchedFile::new(path.clone(), Duration::from_secs(3600));
        assert_eq!(file.read_if_changed(text).unwrap(), None, "it was written a moment ago");
        let mut file = WatchedFile::new(path.clone(), Duration::ZERO);
        let written = |path: &Path| {
            fs::write(path, "half and half")?;
            Ok::<_, io::Error>("half")
        };
        assert_eq!(file.read_if_changed(written).unwrap(), None, "it was written while it was read");
        assert_eq!(file.read_if_changed(text).unwrap().as_deref(), Some("half and half"));
    }

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path(), Path::new("/dev/null")] {
            let mut file = WatchedFile::new(path.to_owned(), Duration::ZERO);
            let error = file.read_if_changed(|_| -> io::Result<()> { panic!("it was opened") }).unwrap_err();
            assert!(error.to_string().ends_with("is no file"), "{error}");
        }
    }
}
