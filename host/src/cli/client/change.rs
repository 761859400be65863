//! A change of a configuration file: shown, confirmed, written.

use std::{
    fs,
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use loggia_cases::unified_diff;
use loggia_text::{printable_text, redact};

use crate::cli::{replace_file::replace_file, settings, term};

/// Lines around a change that are shown: few, since others' entries may hold credentials.
const CONTEXT: usize = 1;

/// A change of one file.
pub struct ConfigChange {
    /// The file.
    pub file: PathBuf,
    /// Its text; `None` if it does not exist.
    pub before: Option<String>,
    /// Its text after the change.
    pub after: String,
}

/// Reads a configuration file; `None` if it does not exist.
///
/// # Errors
///
/// If it cannot be read, or is no text.
pub fn read_file(file: &Path) -> anyhow::Result<Option<String>> {
    match settings::read_text(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(file).is_err() => Ok(None),
        Err(error) => Err(error).with_context(|| format!("failed to read {}", file.display())),
    }
}

impl ConfigChange {
    /// Asks for confirmation unless it was given, and makes the change. `retry` is the command that needs no question.
    /// Returns whether the change was made.
    ///
    /// # Errors
    ///
    /// If there is no terminal on which to ask, or the file cannot be written.
    pub fn confirm_and_write(&self, confirmed: bool, retry: &str) -> anyhow::Result<bool> {
        if !confirmed {
            term::note(&self.diff());
            match term::confirm(&format!("Change {}?", self.file.display())) {
                Some(true) => {}
                Some(false) => {
                    term::note("nothing was changed");
                    return Ok(false);
                }
                None => bail!("nothing was changed: confirmation requires a terminal; `{retry}` skips it"),
            }
        }
        self.write()?;
        Ok(true)
    }

    /// The change as lines that are removed and added, without credentials.
    fn diff(&self) -> String {
        let name = self.file.display().to_string();
        let changes = unified_diff(self.before.as_deref().unwrap_or_default(), &self.after, CONTEXT);
        let text = format!("--- {name}\n+++ {name}\n{changes}");
        printable_text(redact(&text).trim_end()).into_owned()
    }

    fn write(&self) -> anyhow::Result<()> {
        let failed = || format!("failed to write {}", self.file.display());
        ensure!(
            read_file(&self.file)? == self.before,
            "{} has been changed meanwhile: nothing was written; run the command again",
            self.file.display()
        );
        if self.before.is_none() {
            return create(&self.file, &self.after).with_context(failed);
        }
        ensure!(
            !fs::metadata(&self.file).with_context(failed)?.permissions().readonly(),
            "{} is read-only: nothing was changed; make it writable, or add the entry where it is generated",
            self.file.display()
        );
        replace_file(&self.file, &self.after).with_context(failed)
    }
}

/// Creates a file, with its folder. Never replaces one.
fn create(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().sync_all()?;
    beside.persist_noclobber(file)?;
    Ok(())
}
