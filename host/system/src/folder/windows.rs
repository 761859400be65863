//! Access control lists are inherited.

use std::{fs, io, path::Path};

/// Creates a folder and those above it that are missing. Its rights are those of the folder above.
///
/// # Errors
///
/// If it cannot be created.
pub fn create_private(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Creates a folder if it is missing. Whether others may write to it is not checked.
///
/// # Errors
///
/// If it cannot be created.
pub fn ensure_private(path: &Path) -> io::Result<&Path> {
    create_private(path)?;
    Ok(path)
}

/// Does nothing: NTFS writes names to its journal, and folders cannot be flushed without administrators' rights.
///
/// # Errors
///
/// None.
pub fn sync(_path: &Path) -> io::Result<()> {
    Ok(())
}
