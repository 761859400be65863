//! `loggia state export` and `loggia state import`.

use std::{
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use loggia_state::{StateFolder, ImportReport, StateStore};
use loggia_text::printable;

use super::stores::{entries, nothing, store};
use crate::cli::term;

/// Write a store as JSON Lines: a head, and a line for each entry.
///
/// What callers stored keeps their opaque keys, which mean something only with the same state folder's secret.
#[derive(clap::Args)]
pub struct Export {
    /// Whose state
    name: String,
    /// Write to this file, whole or not at all, instead of stdout; only its owner may read it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Export {
    pub fn run(self, path: &Path) -> anyhow::Result<ExitCode> {
        let Some(store) = store(path, &self.name)? else { return Ok(nothing(path, &self.name)) };
        match self.out {
            None => drop(store.export(term::results())?),
            Some(file) => {
                let written = beside(&store, &file)?;
                term::note(&format!("{} written to {}", entries(written), file.display()));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes beside the file, and then renames: what is there stays whole until then.
fn beside(store: &StateStore, path: &Path) -> anyhow::Result<u64> {
    let failed = || format!("failed to write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".state").tempfile_in(folder).with_context(failed)?;
    let written = store.export(file.as_file_mut())?;
    file.as_file().sync_all().with_context(failed)?;
    file.persist(path).with_context(failed)?;
    Ok(written)
}

/// Take in what export wrote: all of it, or nothing.
///
/// Entries that are there stay, unless the file has others for their keys. The quota does not apply here; a plugin that
/// is above its quota can only take away.
#[derive(clap::Args)]
pub struct Import {
    /// Whose state
    name: String,
    /// The file, or - for stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// Take away whatever the file does not have
    #[arg(long)]
    replace: bool,
}

impl Import {
    pub fn run(self, path: &Path) -> anyhow::Result<ExitCode> {
        let store = StateFolder::open(path)?.store(&self.name, u64::MAX)?;
        let imported = if self.file.as_os_str() == "-" {
            store.import(std::io::stdin().lock(), self.replace).context("failed to take in stdin")?
        } else {
            let failed = || format!("failed to take in {}", self.file.display());
            let file = File::open(&self.file).with_context(failed)?;
            store.import(BufReader::new(file), self.replace).with_context(failed)?
        };
        term::note(&told(&self.name, &imported));
        Ok(ExitCode::SUCCESS)
    }
}

fn told(name: &str, imported: &ImportReport) -> String {
    let mut told = format!("{} taken in for `{name}`", entries(imported.entries));
    if imported.expired > 0 {
        told.push_str(&format!("; {} had expired", imported.expired));
    }
    if imported.facade != name {
        told.push_str(&format!("; the file is of `{}`", printable(&imported.facade)));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_tells_what_came_and_from_whom() {
        let cases = [
            ("notes", 1, 0, "1 entry taken in for `notes`"),
            ("notes", 0, 2, "0 entries taken in for `notes`; 2 had expired"),
            ("ta\nsks", 3, 0, "3 entries taken in for `notes`; the file is of `ta\\nsks`"),
        ];
        for (facade, entries, expired, expected) in cases {
            let imported = ImportReport { facade: facade.to_owned(), entries, expired };
            assert_eq!(told("notes", &imported), expected);
        }
    }
}
