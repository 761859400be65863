//! The audit file. A separate thread writes it, so that a slow disk delays no call. Lines that find no room in the queue or
//! on the disk are counted, and the file records the gap as soon as it can.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use chrono::{SecondsFormat, Utc};
use loggia_system::file::{is_exposed, open_no_link, private_options};
use serde_json::json;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};

/// Lines in the queue of the writer thread, of some 300 bytes each.
const MAX_QUEUED: usize = 16_384;

/// Flushes the queue when it is dropped.
static WRITER: Mutex<Option<WorkerGuard>> = Mutex::new(None);
/// Counts lines that found no room in the queue.
static QUEUE_DROPS: OnceLock<ErrorCounter> = OnceLock::new();
/// Counts lines that could not be written.
static WRITE_FAILURES: AtomicUsize = AtomicUsize::new(0);

/// Error of opening the audit file. Its text follows "failed to open the audit file", and begins with the path.
#[derive(Debug, thiserror::Error)]
pub enum TrailError {
    /// The file cannot be opened.
    #[error("{0}")]
    Io(PathBuf, #[source] io::Error),
    /// The path is a folder, a pipe or a device.
    #[error("{0}, which is not a regular file")]
    Irregular(PathBuf),
    /// The mode allows access to others than the owner.
    #[error("{0}, which others than its owner may use: `chmod 600` it")]
    Exposed(PathBuf),
}

/// Opens or creates the file; `{pid}` in its name becomes the id of this process.
///
/// # Errors
///
/// If it cannot be opened, is no regular file, or is accessible to others than its owner.
pub fn open(path: &Path) -> Result<AuditFile, TrailError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let path = path.with_file_name(name.replace("{pid}", &std::process::id().to_string()));
    let failed = |error| TrailError::Io(path.clone(), error);
    // A symlink could point elsewhere at the next start, and opening a pipe would block until it has a reader.
    let file = open_no_link(private_options().append(true).create(true)).open(&path);
    let file = file.map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(TrailError::Irregular(path));
    }
    if is_exposed(&metadata) {
        return Err(TrailError::Exposed(path));
    }
    Ok(AuditFile { file })
}

/// The open audit file.
#[derive(Debug)]
pub struct AuditFile {
    file: File,
}

impl AuditFile {
    /// Starts the writer thread, and returns a function that queues lines. They are lost if the queue is full.
    pub fn start(self) -> impl Fn(&str) + 'static {
        let (writer, guard) = NonBlockingBuilder::default()
            .lossy(true)
            .buffered_lines_limit(MAX_QUEUED)
            .finish(LineWriter::new(self.file));
        let _ = QUEUE_DROPS.set(writer.error_counter());
        *WRITER.lock().unwrap_or_else(PoisonError::into_inner) = Some(guard);
        move |line: &str| {
            let mut writer: NonBlocking = writer.clone();
            // It never fails: a line that finds no room is counted.
            let _ = writer.write_all(line.as_bytes());
        }
    }
}

/// Writes the queued lines. Waits briefly for a slow disk.
pub fn flush() {
    drop(WRITER.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// Returns how many lines were lost so far.
pub fn lost() -> usize {
    QUEUE_DROPS.get().map_or(0, ErrorCounter::dropped_lines) + WRITE_FAILURES.load(Ordering::Relaxed)
}

/// Writes whole lines, and reports lost ones in a line of its own.
struct LineWriter<W> {
    to: W,
    /// Set while the last line is incomplete.
    torn: bool,
    /// Lost lines that have already been reported.
    reported: usize,
}

impl<W: Write> LineWriter<W> {
    fn new(to: W) -> Self {
        Self { to, torn: false, reported: 0 }
    }

    fn write_line(&mut self, line: &[u8], lost: usize) -> io::Result<()> {
        if self.torn {
            self.to.write_all(b"\n")?;
            self.torn = false;
        }
        if lost > self.reported {
            let time = Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
            let gap = json!({ "timestamp": time, "event": "lost", "count": lost - self.reported });
            self.write_whole(format!("{gap}\n").as_bytes())?;
            self.reported = lost;
        }
        self.write_whole(line)
    }

    fn write_whole(&mut self, line: &[u8]) -> io::Result<()> {
        // An append is atomic unless the disk is full.
        self.torn = true;
        self.to.write_all(line)?;
        self.torn = false;
        Ok(())
    }
}

impl<W: Write> Write for LineWriter<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.write_line(line, lost())
            && WRITE_FAILURES.fetch_add(1, Ordering::Relaxed) == 0
        {
            tracing::error!("failed to write the audit file: {error}; lines are lost");
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    /// A disk with limited room.
    #[derive(Default)]
    struct Disk {
        written: Vec<u8>,
        room: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let fits = bytes.len().min(self.room);
            self.room -= fits;
            self.written.extend(&bytes[..fits]);
            if fits == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(fits) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lost_lines_are_reported_and_none_is_torn() {
        let mut trail = LineWriter::new(Disk { room: 13, ..Disk::default() });
        assert!(trail.write_line(b"{\"a\":1}\n", 0).is_ok());
        assert!(trail.write_line(b"{\"a\":2}\n", 0).is_err());
        trail.to.room = 1000;
        assert!(trail.write_line(b"{\"a\":3}\n", 1).is_ok());
        assert!(trail.write_line(b"{\"a\":4}\n", 1).is_ok());
        let written = String::from_utf8(trail.to.written).unwrap();
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!((lines[0], lines[1]), ("{\"a\":1}", "{\"a\":"));
        assert!(lines[2].contains(r#""event":"lost","count":1"#), "{written}");
        assert_eq!(lines[3..], ["{\"a\":3}", "{\"a\":4}"]);
    }

    #[test]
    fn only_private_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let message = |path: &Path| open(path).err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(message(&at("audit-{pid}.jsonl")), "");
        let made = at(&format!("audit-{}.jsonl", std::process::id()));
        assert_eq!(std::fs::metadata(&made).unwrap().mode() & 0o777, 0o600);
        std::fs::set_permissions(&made, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(message(&made).ends_with("`chmod 600` it"));
        symlink(&made, at("link")).unwrap();
        assert!(message(&at("link")).ends_with("link"));
        assert!(message(folder.path()).ends_with(&folder.path().display().to_string()));
        assert!(message(&at("none/audit")).ends_with("none/audit"));
        assert!(message(Path::new("/dev/null")).ends_with("is not a regular file"));
    }
}
