//! Watches a file that may change while the server runs, by polling. The file is read only if it has changed.

use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use loggia_system::FileStat;

/// A file, and the stamp of the version that was read last.
#[derive(Debug)]
pub(super) struct WatchedFile {
    path: PathBuf,
    /// Minimum age of a version: a file that is written in place is first empty, then incomplete.
    settled: Duration,
    seen: Option<FileStat>,
}

impl WatchedFile {
    pub fn new(path: PathBuf, settled: Duration) -> Self {
        Self { path, settled, seen: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file, or returns `None` if it has not changed or is being written. Blocks.
    pub fn read_if_changed<T, E: From<io::Error>>(
        &mut self,
        read: impl FnOnce(&Path) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let stamp = stamp(&self.path)?;
        if self.seen == Some(stamp) || age(&stamp).is_some_and(|age| age < self.settled) {
            return Ok(None);
        }
        let found = read(&self.path)?;
        // It was written during the read, so the content may be of neither version.
        if self::stamp(&self.path)? != stamp {
            return Ok(None);
        }
        self.seen = Some(stamp);
        Ok(Some(found))
    }
}

fn stamp(path: &Path) -> io::Result<FileStat> {
    let metadata = std::fs::metadata(path)?;
    // A pipe yields its content once, and opening it may block forever.
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(FileStat::from_metadata(&metadata))
}

/// Returns the age of a version; `None` if it is in the future, after the clock was set back.
fn age(version: &FileStat) -> Option<Duration> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let (seconds, nanoseconds) = version.changed;
    let then = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
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
        // A failed read is retried.
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
            assert!(error.to_string().ends_with("is not a regular file"), "{error}");
        }
    }
}
