//! The folder in a project that holds what builds write into it.

use std::{fs, io, path::Path};

use super::error::BuildError;

/// Hidden, so that it is neither watched nor taken for sources.
pub(super) const TOOL_FOLDER: &str = ".loggia";

/// Creates the folder, which version control ignores.
///
/// # Errors
///
/// If it cannot be written.
pub(super) fn prepare_tool_folder(project: &Path) -> Result<(), BuildError> {
    let folder = project.join(TOOL_FOLDER);
    let ignored = folder.join(".gitignore");
    let written = fs::create_dir_all(&folder).and_then(|()| match fs::exists(&ignored)? {
        true => Ok(()),
        false => fs::write(&ignored, "*\n"),
    });
    written.map_err(|error: io::Error| BuildError::Write(folder, error))
}
