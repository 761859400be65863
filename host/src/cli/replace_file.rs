//! Replaces the text of a file that the operator owns.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use loggia_system::file::copy_owner;

/// Replaces the text of an existing file atomically. Keeps its owner and permissions; a link stays a link.
pub fn replace_file(file: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(file)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let its = fs::metadata(&path)?;
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().set_permissions(its.permissions())?;
    // The server may run as another user and must still be able to read it.
    copy_owner(&its, beside.as_file())?;
    beside.as_file().sync_all()?;
    beside.persist(&path)?;
    Ok(())
}
