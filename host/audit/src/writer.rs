//! Writes lines, rotates files, signs checkpoints.

use std::{
    fs,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::{
    chain::{ChainHead, hash_line},
    checkpoint::{self, CheckpointPlace},
    files::{self, TrailError, rotated},
    head::HeadFile,
    key::AuditKey,
};

/// Where lines go.
#[derive(Debug, Clone)]
pub struct TrailOptions {
    /// The file. `{pid}` in its name becomes the id of this process.
    pub file: PathBuf,
    /// State folder, which has the key and the head of the chain.
    pub state: PathBuf,
    /// Size at which a file is rotated, in bytes.
    pub rotate: u64,
    /// Rotated files that are kept.
    pub keep: usize,
}

/// A file of lines in a chain.
pub(crate) struct ChainWriter {
    path: PathBuf,
    file: File,
    /// Bytes of the file.
    size: u64,
    head: ChainHead,
    heads: HeadFile,
    key: AuditKey,
    rotate: u64,
    keep: usize,
    /// Lines since the last checkpoint.
    pub(crate) unsigned: usize,
    /// Set while the file may end with a part of lines that failed.
    is_torn: bool,
}

impl ChainWriter {
    /// Opens the file and continues its chain.
    pub(crate) fn open(options: &TrailOptions) -> Result<Self, TrailError> {
        let key = AuditKey::open(&options.state)?;
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| TrailError::Io(path, error)
        };
        let path = files::resolve_path(&options.file).map_err(failed(&options.file))?;
        let (mut file, path) = files::open(&path)?;
        let (last, size) = files::last_line(&mut file).map_err(failed(&path))?;
        // The end of a line that was being written when the process was killed.
        file.set_len(size).map_err(failed(&path))?;
        let heads = HeadFile::new(&options.state, &path);
        let stored = heads.read(&key.public());
        let found = read_head(&last);
        let (head, cut) = match (&stored, found) {
            (Ok(Some(stored)), Some(found)) if found.seq >= stored.seq => (found, None),
            (Ok(Some(stored)), found) => (stored.clone(), Some(found.map_or(0, |found| found.seq))),
            (Ok(None), found) => (found.unwrap_or_default(), None),
            (Err(_), found) => {
                let found = found.unwrap_or_default();
                let seq = found.seq;
                (found, Some(seq))
            }
        };
        let TrailOptions { rotate, keep, .. } = *options;
        let mut writer =
            Self { path, file, size, head, heads, key, rotate, keep, unsigned: 0, is_torn: false };
        let path = writer.path.clone();
        // A file that was removed by its operator begins again after the head; lines that are missing from one that exists were cut.
        if let Some(found) = cut.filter(|_| size > 0) {
            let expected = writer.head.seq;
            tracing::error!(
                "the audit file {} was changed: it ends with line {found}, and the last signed line is {expected}",
                path.display()
            );
            let gap = json!({ "timestamp": now(), "event": "gap", "found": found, "expected": expected });
            writer.write(&[gap.to_string()]).map_err(failed(&path))?;
        }
        writer.sign().map_err(failed(&path))?;
        Ok(writer)
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes JSON objects as the next lines: as many as fit into the file, and at least one. Returns how many. After an error, nothing
    /// of them is in the file.
    pub(crate) fn write(&mut self, objects: &[impl AsRef<str>]) -> io::Result<usize> {
        let mut room = self.rotate.saturating_sub(self.size);
        let count = objects
            .iter()
            .take_while(|object| {
                let size = object.as_ref().len() as u64;
                let is_room = size <= room;
                room = room.saturating_sub(size);
                is_room
            })
            .count();
        if count == 0 && self.size > 0 {
            self.rotate()?;
        }
        if self.size == 0 {
            // Its beginning failed when the file was rotated.
            self.sign()?;
        }
        let lines = &objects[..count.max(1).min(objects.len())];
        self.append(lines)?;
        self.unsigned += lines.len();
        Ok(lines.len())
    }

    /// Writes a checkpoint, and waits until all lines are on the disk.
    pub(crate) fn sign(&mut self) -> io::Result<()> {
        let place = if self.size == 0 { CheckpointPlace::Beginning } else { CheckpointPlace::Within };
        let object = checkpoint::create(&self.head, place, &now(), &self.key);
        self.append(&[object])?;
        self.unsigned = 0;
        self.file.sync_data()?;
        self.heads.write(&self.head, &self.key)
    }

    fn append(&mut self, objects: &[impl AsRef<str>]) -> io::Result<()> {
        let (mut lines, mut head) = (Vec::new(), self.head.clone());
        for object in objects {
            head = head.link(object.as_ref(), &mut lines);
        }
        if std::mem::take(&mut self.is_torn) {
            self.cut()?;
        }
        if let Err(error) = self.file.write_all(&lines) {
            return self.cut().and(Err(error));
        }
        self.size += lines.len() as u64;
        self.head = head;
        Ok(())
    }

    /// Removes what a failed write left. If that fails, it is tried again before anything is written.
    fn cut(&mut self) -> io::Result<()> {
        let cut = self.file.set_len(self.size);
        self.is_torn = cut.is_err();
        cut
    }

    /// Begins a new file with a checkpoint; the others move on by one number, and the oldest is removed. May be tried again after an
    /// error: no file moves twice.
    fn rotate(&mut self) -> io::Result<()> {
        if self.path.exists() {
            self.sign()?;
            for number in (1..self.keep).rev() {
                let from = rotated(&self.path, number);
                if from.exists() {
                    fs::rename(from, rotated(&self.path, number + 1))?;
                }
            }
            match self.keep {
                0 => fs::remove_file(&self.path)?,
                _ => fs::rename(&self.path, rotated(&self.path, 1))?,
            }
        }
        let (file, path) = files::open(&self.path).map_err(|error| io::Error::other(error.to_string()))?;
        (self.file, self.path, self.size) = (file, path, 0);
        self.sign()
    }
}

/// Reads the number of a line.
fn read_head(line: &[u8]) -> Option<ChainHead> {
    let object: Value = serde_json::from_slice(line).ok()?;
    Some(ChainHead { seq: object["seq"].as_u64()?, hash: hash_line(line) })
}

/// The time, as lines have it.
pub(crate) fn now() -> String {
    DateTime::<Utc>::from(SystemTime::now()).to_rfc3339_opts(SecondsFormat::Micros, true)
}
