//! The folder's secret, from which the host derives opaque keys of callers.

use std::{
    fs,
    io::{self, ErrorKind, Write},
    path::Path,
};

use loggia_system::folder;

/// Reads the secret, or creates it. Two processes that race get the same secret: a new file gets its name only if no other
/// has it.
pub(crate) fn read_or_create(folder: &Path, name: &str) -> io::Result<[u8; 32]> {
    let path = folder.join(name);
    match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => create(folder, &path)?,
        found => return parse_secret(found?),
    }
    parse_secret(fs::read(&path)?)
}

fn create(within: &Path, path: &Path) -> io::Result<()> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret)?;
    // Temporary files are readable by their owner only.
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(within)?;
    file.write_all(&secret)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => return Err(error.error),
        _ => {}
    }
    folder::sync(within)
}

fn parse_secret(bytes: Vec<u8>) -> io::Result<[u8; 32]> {
    bytes.try_into().map_err(|bytes: Vec<u8>| {
        let message = format!("it must have 32 bytes, and has {}: restore the original", bytes.len());
        io::Error::new(ErrorKind::InvalidData, message)
    })
}
