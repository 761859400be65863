//! Workflow files beside the sources: they need no building, and are served as they are, with their policies.

use std::path::{Path, PathBuf};

use super::{BuildError, PlacedFile, place_file};
use crate::load::{FacadeKind, scan_folder};

/// The workflow files of a folder, each after its policy, if it has one: a workflow must not be served a moment without
/// it. None where the path is no folder.
pub fn find_workflows(path: &Path) -> Vec<PathBuf> {
    let found = if path.is_dir() { scan_folder(path).unwrap_or_default() } else { Default::default() };
    let workflows = found.into_values().filter(|found| found.kind == FacadeKind::Workflows);
    workflows.flat_map(|found| found.policy.into_iter().chain([found.path])).collect()
}

/// Puts a file beside the built plugins, whole or not at all, and only if it is another than the one there.
///
/// # Errors
///
/// If it cannot be read or written.
pub fn place_workflow(file: &Path, plugins: &Path) -> Result<PlacedFile, BuildError> {
    let to = plugins.join(file.file_name().unwrap_or_default());
    place_file(file, &to).map_err(|e| BuildError::Write(to, e))
}
