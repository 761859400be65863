//! Finds what was changed in a trail.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    chain::{ChainHead, hash_line},
    checkpoint::{self, CheckpointPlace},
    files::list_files,
    head::HeadFile,
    key::PublicKey,
};

/// A trail without changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifiedTrail {
    /// Lines in the chain.
    pub lines: u64,
    /// Number of the first of them: those before are in files that were removed.
    pub first: u64,
    /// Number of the last.
    pub last: u64,
    /// Signed checkpoints.
    pub checkpoints: u64,
    /// Lines after the last checkpoint: whoever has the file could change them.
    pub unsigned: u64,
    /// Lines before the chain, of an older version.
    pub unchained: u64,
}

/// What was changed, and where.
#[derive(Debug, thiserror::Error)]
pub enum TrailProblem {
    /// There is no file.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// A file cannot be read.
    #[error("failed to read {}", .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// A line does not continue the chain.
    #[error("{}, line {line}: {reason}", file.display())]
    Line {
        /// File.
        file: PathBuf,
        /// Line of the file, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// The end is missing.
    #[error("{} was cut: it ends with line {found} of the chain, and line {expected} was signed", file.display())]
    Cut {
        /// File.
        file: PathBuf,
        /// Number of the last line.
        found: u64,
        /// Number of the last signed line.
        expected: u64,
    },
    /// The head in the state folder was changed.
    #[error("{0}")]
    Head(io::Error),
}

/// Verifies the files of a trail. With a state folder, also that the end was not cut.
///
/// # Errors
///
/// The first [`TrailProblem`].
pub fn verify(path: &Path, key: &PublicKey, state: Option<&Path>) -> Result<VerifiedTrail, TrailProblem> {
    let files = list_files(path);
    if !path.exists() {
        return Err(TrailProblem::Missing(path.to_owned()));
    }
    let stored = state.map(|state| HeadFile::new(state, path).read(key)).transpose();
    let stored = stored.map_err(TrailProblem::Head)?.flatten();
    let mut check = ChainCheck { key, stored: stored.as_ref(), head: None, trail: VerifiedTrail::default() };
    for file in &files {
        let failed = |error| TrailProblem::Io(file.clone(), error);
        let mut reader = BufReader::new(File::open(file).map_err(failed)?);
        let mut number = 0;
        loop {
            let mut line = Vec::new();
            if reader.read_until(b'\n', &mut line).map_err(failed)? == 0 {
                break;
            }
            number += 1;
            let checked = match line.pop() {
                Some(b'\n') => check.line(&line),
                _ => Err("it is incomplete; if a server is writing it, verify again".to_owned()),
            };
            checked.map_err(|reason| TrailProblem::Line { file: file.clone(), line: number, reason })?;
        }
    }
    let found = check.head.as_ref().map_or(0, |head| head.seq);
    if let Some(expected) = stored.as_ref().map(|head| head.seq).filter(|expected| found < *expected) {
        return Err(TrailProblem::Cut { file: path.to_owned(), found, expected });
    }
    Ok(check.trail)
}

/// The state of a verification.
struct ChainCheck<'a> {
    key: &'a PublicKey,
    stored: Option<&'a ChainHead>,
    /// `None` before the first line of the chain.
    head: Option<ChainHead>,
    trail: VerifiedTrail,
}

impl ChainCheck<'_> {
    fn line(&mut self, bytes: &[u8]) -> Result<(), String> {
        let line: Value =
            serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
        let (Some(seq), Some(prev)) = (line["seq"].as_u64(), line["prev"].as_str()) else {
            return match self.head {
                None => {
                    self.trail.unchained += 1;
                    Ok(())
                }
                Some(_) => Err("it has no number in the chain".to_owned()),
            };
        };
        let before = ChainHead { seq: seq.saturating_sub(1), hash: prev.to_owned() };
        let is_checkpoint = checkpoint::is_checkpoint(&line);
        let signed = checkpoint::verify(&line, &before, self.key).filter(|_| is_checkpoint);
        match &self.head {
            Some(head) if seq != head.seq + 1 => {
                return Err(format!(
                    "line {} of the chain should follow, and this is line {seq}",
                    head.seq + 1
                ));
            }
            Some(head) if head.hash != prev => {
                return Err(format!("line {} of the chain, before it, was changed", head.seq));
            }
            // Older files are removed by rotation. What follows begins with a checkpoint.
            None if signed != Some(CheckpointPlace::Beginning) => {
                return Err(
                    "the beginning is missing: it does not start with the checkpoint that begins a file"
                        .to_owned(),
                );
            }
            _ => {}
        }
        if is_checkpoint && signed.is_none() {
            return Err("the signature of this checkpoint is not valid".to_owned());
        }
        if line["event"] == "gap" {
            return Err("the server found that lines before it had been cut".to_owned());
        }
        let hash = hash_line(bytes);
        if self.stored.is_some_and(|stored| stored.seq == seq && stored.hash != hash) {
            return Err("it is not the line that was signed".to_owned());
        }
        let trail = &mut self.trail;
        trail.first = if trail.lines == 0 { seq } else { trail.first };
        (trail.lines, trail.last) = (trail.lines + 1, seq);
        match signed.is_some() {
            true => (trail.checkpoints, trail.unsigned) = (trail.checkpoints + 1, 0),
            false => trail.unsigned += 1,
        }
        self.head = Some(ChainHead { seq, hash });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{
        key::AuditKey,
        writer::{ChainWriter, TrailOptions},
    };

    /// A trail of some lines in a folder.
    struct Stage {
        folder: tempfile::TempDir,
        key: PublicKey,
    }

    impl Stage {
        fn new(lines: usize, rotate: u64) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let key = AuditKey::open(folder.path()).unwrap().public();
            let stage = Self { folder, key };
            let mut writer = ChainWriter::open(&stage.options(rotate)).unwrap();
            for number in 1..=lines {
                writer.write(&[format!("{{\"event\":\"call\",\"n\":{number}}}\n")]).unwrap();
            }
            writer.sign().unwrap();
            stage
        }

        fn file(&self) -> PathBuf {
            self.folder.path().join("audit.jsonl")
        }

        fn options(&self, rotate: u64) -> TrailOptions {
            TrailOptions { file: self.file(), state: self.folder.path().to_owned(), rotate, keep: 3 }
        }

        fn verify(&self) -> Result<VerifiedTrail, String> {
            verify(&self.file(), &self.key, Some(self.folder.path())).map_err(|problem| problem.to_string())
        }

        fn edit(&self, change: impl Fn(&mut Vec<String>)) {
            let mut lines: Vec<String> =
                fs::read_to_string(self.file()).unwrap().lines().map(str::to_owned).collect();
            change(&mut lines);
            fs::write(self.file(), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        }
    }

    #[test]
    fn an_unchanged_trail_is_verified() {
        let stage = Stage::new(5, 1 << 20);
        let trail = stage.verify().unwrap();
        assert_eq!((trail.lines, trail.first, trail.last, trail.checkpoints), (7, 1, 7, 2));
        // Another process continues it, after a line that was not finished.
        let mut text = fs::read_to_string(stage.file()).unwrap();
        text.push_str("{\"seq\":8,");
        fs::write(stage.file(), text).unwrap();
        ChainWriter::open(&stage.options(1 << 20)).unwrap().write(&["{\"event\":\"call\"}"]).unwrap();
        let trail = stage.verify().unwrap();
        assert_eq!((trail.last, trail.checkpoints, trail.unsigned), (9, 3, 1));
    }

    #[test]
    fn each_change_is_found() {
        type Change = fn(&mut Vec<String>);
        let changes: [(&str, Change, &str); 10] = [
            (
                "edited",
                |lines| lines[2] = lines[2].replace("\"n\":2", "\"n\":9"),
                "line 4: line 3 of the chain, before it, was changed",
            ),
            (
                "removed",
                |lines| drop(lines.remove(2)),
                "line 3: line 3 of the chain should follow, and this is line 4",
            ),
            (
                "cut out and renumbered",
                |lines| {
                    lines.remove(2);
                    lines[2] = lines[2].replace("\"seq\":4", "\"seq\":3");
                },
                "line 3: line 2 of the chain, before it, was changed",
            ),
            ("swapped", |lines| lines.swap(2, 3), "line 3: line 3 of the chain should follow"),
            ("added", |lines| lines.insert(2, lines[2].clone()), "line 4: line 4 of the chain should follow"),
            (
                "tail cut",
                |lines| lines.truncate(4),
                "was cut: it ends with line 4 of the chain, and line 7 was signed",
            ),
            ("beginning cut", |lines| drop(lines.drain(..2)), "line 1: the beginning is missing"),
            (
                "beginning cut to a checkpoint",
                |lines| drop(lines.drain(..lines.len() - 1)),
                "line 1: the beginning is missing",
            ),
            (
                "chain stripped",
                |lines| lines[3] = "{\"event\":\"call\"}".to_owned(),
                "line 4: it has no number",
            ),
            ("rubbish", |lines| lines[3] = "x".to_owned(), "line 4: it is not JSON"),
        ];
        for (what, change, expected) in changes {
            let stage = Stage::new(5, 1 << 20);
            stage.edit(change);
            let problem = stage.verify().unwrap_err();
            assert!(problem.contains(expected), "{what}: {problem}");
        }
    }

    #[test]
    fn a_chain_made_with_another_key_is_found() {
        let stage = Stage::new(5, 1 << 20);
        let forged = Stage::new(5, 1 << 20);
        fs::copy(forged.file(), stage.file()).unwrap();
        assert!(stage.verify().unwrap_err().contains("does not start with the checkpoint"));
        // A forged checkpoint within the chain.
        stage.edit(|lines| lines[0] = lines[0].clone());
        let stage = Stage::new(2, 1 << 20);
        let other = Stage::new(0, 1 << 20);
        let mut writer = ChainWriter::open(&stage.options(1 << 20)).unwrap();
        let line = fs::read_to_string(other.file()).unwrap();
        let object: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
        let forged = serde_json::json!({"timestamp": object["timestamp"], "event": "checkpoint", "signature": object["signature"]});
        writer.write(&[forged.to_string()]).unwrap();
        assert!(stage.verify().unwrap_err().contains("the signature of this checkpoint is not valid"));
    }

    #[test]
    fn files_rotate_and_a_missing_one_is_found() {
        let stage = Stage::new(40, 1200);
        let files = list_files(&stage.file());
        assert_eq!(files.len(), 4, "three and the current one");
        let trail = stage.verify().unwrap();
        assert!(trail.first > 1 && trail.last > 40, "{trail:?}");
        let away = stage.folder.path().join("away");
        // None of those between the oldest and the newest.
        for missing in &files[1..3] {
            fs::rename(missing, &away).unwrap();
            assert!(stage.verify().unwrap_err().contains("should follow"), "{missing:?}");
            fs::rename(&away, missing).unwrap();
        }
        // Also if another takes its place.
        fs::rename(&files[0], &files[1]).unwrap();
        assert!(stage.verify().unwrap_err().contains("should follow"));
    }

    #[test]
    fn a_rotation_that_failed_goes_on() {
        let stage = Stage::new(5, 1 << 20);
        let mut writer = ChainWriter::open(&stage.options(700)).unwrap();
        // As if the new file could not be opened after the move; and a file that was rotated before.
        let moved = stage.folder.path().join("audit.jsonl.1");
        fs::rename(stage.file(), &moved).unwrap();
        while !stage.file().exists() {
            writer.write(&["{\"event\":\"call\"}"]).unwrap();
        }
        assert_eq!(list_files(&stage.file()), [moved, stage.file()], "it was not moved twice");
        stage.verify().unwrap();
    }

    #[test]
    fn a_long_tail_without_a_line_feed_costs_no_lines() {
        let stage = Stage::new(5, 1 << 20);
        let before = fs::read_to_string(stage.file()).unwrap();
        fs::write(stage.file(), [before.as_bytes(), &vec![0; 300 << 10]].concat()).unwrap();
        ChainWriter::open(&stage.options(1 << 20)).unwrap().write(&["{\"event\":\"call\"}"]).unwrap();
        assert!(fs::read_to_string(stage.file()).unwrap().starts_with(&before));
        stage.verify().unwrap();
    }

    #[test]
    fn a_cut_file_is_reported_when_it_is_continued() {
        let stage = Stage::new(5, 1 << 20);
        stage.edit(|lines| lines.truncate(3));
        drop(ChainWriter::open(&stage.options(1 << 20)).unwrap());
        let problem = stage.verify().unwrap_err();
        assert!(
            problem.contains("line 4: line 4 of the chain should follow, and this is line 8"),
            "{problem}"
        );
        // A removed file is not a cut one: rotation and operators remove files.
        let stage = Stage::new(5, 1 << 20);
        fs::remove_file(stage.file()).unwrap();
        drop(ChainWriter::open(&stage.options(1 << 20)).unwrap());
        assert_eq!(stage.verify().unwrap().first, 8);
    }

    #[test]
    fn a_changed_head_is_found() {
        let stage = Stage::new(5, 1 << 20);
        let heads = stage.folder.path().join("audit-heads");
        let path = fs::read_dir(heads).unwrap().next().unwrap().unwrap().path();
        let text = fs::read_to_string(&path).unwrap().replace("\"seq\":7", "\"seq\":2");
        fs::write(&path, text).unwrap();
        assert!(stage.verify().unwrap_err().contains("its signature is not valid"));
    }
}
