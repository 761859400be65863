//! Copies workflow files beside the sources, with their policies.

use std::path::{Path, PathBuf};

use loggia_load::{FileKind, scan_folder};

use super::{BuildError, PlacedFile, place_file};

/// Lists the workflow files of a folder, each after its policy, without which it must not be served. Empty if the path
/// is not a folder.
pub fn find_workflows(path: &Path) -> Vec<PathBuf> {
    let found = if path.is_dir() { scan_folder(path).unwrap_or_default() } else { Default::default() };
    let workflows = found.into_values().filter(|found| found.kind == FileKind::Workflows);
    workflows.flat_map(|found| found.policy.into_iter().chain([found.path])).collect()
}

/// Copies a file to the built plugins atomically, if it differs.
///
/// # Errors
///
/// If it cannot be read or written.
pub fn place_workflow(file: &Path, plugins: &Path) -> Result<PlacedFile, BuildError> {
    let to = plugins.join(file.file_name().unwrap_or_default());
    place_file(file, &to).map_err(|e| BuildError::Write(to, e))
}
