//! File format of figures: `{"total": {FORM: {"tokens": n, "bytes": n}, …}, "facades": {NAME: {FORM: …}}, "served":
//! {"total": {"tokens": n, "bytes": n}, "facades": {NAME: {"form": FORM, "tokens": n, "bytes": n}}}}`.

use std::{
    fs::{self, Permissions},
    io::Write,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use anyhow::Context;
use loggia_gate::tokens::TokenFigures;

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
    // Default permissions, as of any new file: the umask applies.
    let mut beside = tempfile::Builder::new()
        .prefix(".tokens")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .with_context(failed)?;
    beside.write_all(&text).with_context(failed)?;
    beside.persist(path).with_context(failed)?;
    Ok(())
}
