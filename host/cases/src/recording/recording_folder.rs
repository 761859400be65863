//! Writes recordings into a folder, one file for each call.

use std::{
    collections::VecDeque,
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    thread,
};

use anyhow::Context;

use super::call_tapes::{TapeEnd, TapePlan, TapeStart};

/// Files of one process; older ones are removed.
const MAX_FILES: usize = 1000;
/// Recordings that wait to be written. A call must not wait for a disk: more are dropped.
const MAX_QUEUED: usize = 64;

/// A folder of recordings, written by a thread of its own.
#[derive(Debug)]
pub struct RecordingFolder {
    queue: SyncSender<(String, String)>,
}

impl RecordingFolder {
    /// Opens a folder; creates it, readable by its owner alone, if it is missing.
    ///
    /// # Errors
    ///
    /// If it cannot be created or written, or the thread cannot be started.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        let failed = || format!("failed to create the folder of recordings {}", folder.display());
        create_private(folder).with_context(failed)?;
        let folder = fs::canonicalize(folder).with_context(failed)?;
        tempfile::tempfile_in(&folder)
            .with_context(|| format!("failed to write into {}", folder.display()))?;
        let (queue, recordings) = sync_channel(MAX_QUEUED);
        let writes = move || write_all(&folder, &recordings);
        thread::Builder::new().name("loggia-recordings".into()).spawn(writes).with_context(failed)?;
        Ok(Self { queue })
    }
}

impl TapePlan for RecordingFolder {
    fn begin(&self, is_allowed: bool) -> TapeStart {
        if is_allowed { TapeStart::Record } else { TapeStart::Pass }
    }

    fn end(&self, facade: &str, tape: TapeEnd) {
        let Some((name, text)) = tape.and_then(|tape| {
            let recording = tape.recording;
            let time: String = recording.time.chars().filter(char::is_ascii_alphanumeric).collect();
            Some((format!("{time}-{facade}.{}", recording.action), recording.render()?))
        }) else {
            tracing::warn!(facade, "a call was not recorded: its recording would be larger than 16 MiB");
            return;
        };
        match self.queue.try_send((name, text)) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                tracing::warn!(facade, "a call was not recorded: the disk does not keep up");
            }
            Err(TrySendError::Disconnected(_)) => tracing::error!(facade, "a call was not recorded"),
        }
    }
}

#[cfg(unix)]
fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(folder)
}

/// Writes recordings until there are no more senders.
fn write_all(folder: &Path, recordings: &Receiver<(String, String)>) {
    let mut written = VecDeque::new();
    let mut number = 0_u64;
    for (name, text) in recordings {
        number += 1;
        let path = folder.join(format!("{name}-{}-{number}.json", std::process::id()));
        match write_file(&path, &text) {
            Ok(()) => written.push_back(path),
            Err(error) => tracing::error!("failed to write {}: {error}", path.display()),
        }
        if written.len() > MAX_FILES
            && let Some(oldest) = written.pop_front()
        {
            // Someone else may have removed it.
            let _ = fs::remove_file(oldest);
        }
    }
}

/// Writes a file that appears whole, readable by its owner alone.
fn write_file(path: &PathBuf, text: &str) -> io::Result<()> {
    let part = path.with_extension("part");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&part).and_then(|mut file| file.write_all(text.as_bytes()));
    written.and_then(|()| fs::rename(&part, path)).inspect_err(|_| drop(fs::remove_file(&part)))
}
