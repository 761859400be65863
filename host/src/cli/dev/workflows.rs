//! Workflow files beside the sources: they need no building, and are served as they are, with their policies.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::reload::{Kind, scan};

/// The workflow files of a folder with their policies. None where the path is no folder.
pub fn find(path: &Path) -> Vec<PathBuf> {
    let found = if path.is_dir() { scan(path).unwrap_or_default() } else { Default::default() };
    let workflows = found.into_values().filter(|found| found.kind == Kind::Workflows);
    workflows.flat_map(|found| found.policy.into_iter().chain([found.path])).collect()
}

/// Puts a file beside the built plugins, whole or not at all, and only if it is another than the one there.
pub fn put(file: &Path, plugins: &Path) -> io::Result<()> {
    let Some(name) = file.file_name() else { return Ok(()) };
    let (bytes, to) = (fs::read(file)?, plugins.join(name));
    if fs::read(&to).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let mut beside = tempfile::NamedTempFile::new_in(plugins)?;
    io::Write::write_all(&mut beside, &bytes)?;
    beside.persist(&to)?;
    tracing::info!("took {}", name.to_string_lossy());
    Ok(())
}
