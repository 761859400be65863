//! Snapshots of results and of surfaces, in files beside the cases.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;
use loggia_cases::{CaseProblem, unified_diff};
use loggia_system::file::{FileReaders, temporary_in};
use serde_json::Value;

/// Lines around a change that are shown.
const CONTEXT: usize = 1;

/// The snapshots of one file.
pub struct SnapshotFolder {
    folder: PathBuf,
    stem: String,
    update: bool,
}

impl SnapshotFolder {
    /// The folder `snapshots` beside a file.
    pub fn beside(file: &Path, update: bool) -> Self {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")).unwrap_or(&name);
        Self { folder: file.with_file_name("snapshots"), stem: stem.to_owned(), update }
    }

    /// The file's name without its suffix.
    pub fn stem(&self) -> &str {
        &self.stem
    }

    /// Compares a value with its snapshot, or writes it. Returns what differs, and a note of what was written.
    ///
    /// # Errors
    ///
    /// If the snapshot cannot be read or written.
    pub fn check(
        &self,
        name: &str,
        value: &Value,
        line: usize,
    ) -> anyhow::Result<(Vec<CaseProblem>, Option<String>)> {
        let file = format!("{}.{name}.json", self.stem);
        let path = self.folder.join(&file);
        let text = format!("{value:#}\n");
        let before = match fs::read_to_string(&path) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("failed to read {}", path.display())),
        };
        match before {
            Some(before) if before == text => Ok((Vec::new(), None)),
            _ if self.update => {
                write_file(&path, &text)?;
                Ok((Vec::new(), Some(format!("wrote snapshots/{file}"))))
            }
            Some(before) => {
                let message = format!("it differs from snapshots/{file}:");
                let mut problem = CaseProblem::at(line, 0, message).hint("--update accepts the change");
                problem.message =
                    format!("{}\n{}", problem.message, unified_diff(&before, &text, CONTEXT).trim_end());
                Ok((vec![problem], None))
            }
            None => {
                let problem = CaseProblem::at(line, 0, format!("there is no snapshots/{file}"));
                Ok((vec![problem.hint("--update writes it")], None))
            }
        }
    }
}

/// Replaces a file whole, and creates its folder.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| {
        let mut file = temporary_in(folder, ".loggia-", FileReaders::Everyone)?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(io::Error::from)
    });
    written.map(|_| ()).with_context(|| format!("failed to write {}", path.display()))
}
