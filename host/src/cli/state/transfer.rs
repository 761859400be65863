//! `loggia state export` and `loggia state import`.

use std::{
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use loggia_state::{ImportReport, StateStore};
use loggia_text::printable;

use super::stores::{StorePlace, count_entries};
use crate::cli::term;

/// Export a store as JSON Lines: a header line, then one line per entry.
///
/// Entries of callers keep their opaque keys, which are valid only with the secret of the same state folder.
#[derive(clap::Args)]
pub struct ExportCommand {
    /// Facade whose state it is
    name: String,
    /// Write to this file instead of stdout, atomically; only its owner can read it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl ExportCommand {
    pub fn run(self, place: &StorePlace) -> anyhow::Result<ExitCode> {
        let Some(store) = place.find(&self.name)? else { return Ok(place.report_missing(&self.name)) };
        match self.out {
            None => drop(store.export(term::stdout_writer())?),
            Some(file) => {
                let written = export_to_file(&store, &file)?;
                term::note(&format!("exported {} to {}", count_entries(written), file.display()));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes a temporary file and renames it, so that an existing file stays complete until then.
fn export_to_file(store: &StateStore, path: &Path) -> anyhow::Result<u64> {
    let failed = || format!("failed to write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".state").tempfile_in(folder).with_context(failed)?;
    let written = store.export(file.as_file_mut())?;
    file.as_file().sync_all().with_context(failed)?;
    file.persist(path).with_context(failed)?;
    Ok(written)
}

/// Import an exported store, atomically.
///
/// Overwrites entries whose keys are in the file and keeps all others. The quota does not apply to imports; a plugin
/// above its quota can only delete.
#[derive(clap::Args)]
pub struct ImportCommand {
    /// Facade whose state it is
    name: String,
    /// Exported file, or - for stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// Delete entries that are not in the file
    #[arg(long)]
    replace: bool,
}

impl ImportCommand {
    pub fn run(self, place: &StorePlace) -> anyhow::Result<ExitCode> {
        let store = place.create()?.store(&self.name, u64::MAX)?;
        let imported = if self.file.as_os_str() == "-" {
            store.import(std::io::stdin().lock(), self.replace).context("failed to import stdin")?
        } else {
            let failed = || format!("failed to import {}", self.file.display());
            let file = File::open(&self.file).with_context(failed)?;
            store.import(BufReader::new(file), self.replace).with_context(failed)?
        };
        term::note(&import_summary(&self.name, &imported));
        Ok(ExitCode::SUCCESS)
    }
}

fn import_summary(name: &str, imported: &ImportReport) -> String {
    let mut summary = format!("imported {} for `{name}`", count_entries(imported.entries));
    if imported.expired > 0 {
        summary.push_str(&format!("; skipped {} that expired", imported.expired));
    }
    if imported.facade != name {
        summary.push_str(&format!("; they were exported from `{}`", printable(&imported.facade)));
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_reports_counts_and_origin() {
        let cases = [
            ("notes", 1, 0, "imported 1 entry for `notes`"),
            ("notes", 0, 2, "imported 0 entries for `notes`; skipped 2 that expired"),
            ("ta\nsks", 3, 0, "imported 3 entries for `notes`; they were exported from `ta\\nsks`"),
        ];
        for (facade, entries, expired, expected) in cases {
            let imported = ImportReport { facade: facade.to_owned(), entries, expired };
            assert_eq!(import_summary("notes", &imported), expected);
        }
    }
}
