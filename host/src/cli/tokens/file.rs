//! File format of figures: `{"total": {FORM: {"tokens": n, "bytes": n}, …}, "facades": {NAME: {FORM: …}}, "served":
//! {"total": {"tokens": n, "bytes": n}, "facades": {NAME: {"form": FORM, "tokens": n, "bytes": n}}}}`.

use std::{fs, io::Write, path::Path};

use anyhow::Context;
use loggia_gate::tokens::TokenFigures;
use loggia_system::file::{FileReaders, temporary_in};

/// Reads figures of [`write_figures`].
pub fn read_figures(path: &Path) -> anyhow::Result<TokenFigures> {
    let text = fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
    let what = || format!("{} is not an output of `loggia tokens DIR --output FILE`", path.display());
    serde_json::from_str(&text).with_context(what)
}

/// Writes figures atomically.
pub fn write_figures(path: &Path, figures: &TokenFigures) -> anyhow::Result<()> {
    let failed = || format!("failed to write {}", path.display());
    let mut text = serde_json::to_vec_pretty(figures).with_context(failed)?;
    text.push(b'\n');
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = temporary_in(folder, ".tokens", FileReaders::Default).with_context(failed)?;
    beside.write_all(&text).with_context(failed)?;
    beside.persist(path).with_context(failed)?;
    Ok(())
}
