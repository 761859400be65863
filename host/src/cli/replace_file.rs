//! Replaces or creates a file that the operator owns.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use loggia_system::file::{FileReaders, copy_owner, temporary_in};

/// Replaces the content of an existing file atomically. Keeps its owner and permissions; a link stays a link.
pub fn replace_file(file: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let path = fs::canonicalize(file)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let its = fs::metadata(&path)?;
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(content.as_ref())?;
    beside.as_file().set_permissions(its.permissions())?;
    // The server may run as another user and must still be able to read it.
    copy_owner(&its, beside.as_file())?;
    beside.as_file().sync_all()?;
    beside.persist(&path)?;
    Ok(())
}

/// Replaces a file like [`replace_file`], or creates it atomically: readable by all, as the server may run as another user.
pub fn put_file(file: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    if fs::symlink_metadata(file).is_ok() {
        return replace_file(file, content);
    }
    let mut beside = temporary_in(file.parent().unwrap_or(Path::new(".")), ".put-", FileReaders::Everyone)?;
    beside.write_all(content.as_ref())?;
    beside.as_file().sync_all()?;
    beside.persist_noclobber(file).map(drop).map_err(|error| error.error)
}
