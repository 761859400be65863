//! The folder's secret: what the host makes opaque keys of callers with.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::Path,
};

use rustix::rand::{GetRandomFlags, getrandom};

/// Reads the secret, and makes it where there is none. Two processes that race get the same: it is written beside and
/// then takes its name, unless another one has it already.
pub(crate) fn read_or_make(folder: &Path, name: &str) -> io::Result<[u8; 32]> {
    let path = folder.join(name);
    match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => make(folder, &path)?,
        found => return whole(found?),
    }
    whole(fs::read(&path)?)
}

fn make(folder: &Path, path: &Path) -> io::Result<()> {
    let mut secret = [0; 32];
    let mut filled = 0;
    while filled < secret.len() {
        filled += getrandom(&mut secret[filled..], GetRandomFlags::empty())?;
    }
    // Only its owner may read such a file.
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
    file.write_all(&secret)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => return Err(error.error),
        _ => {}
    }
    File::open(folder)?.sync_all()
}

fn whole(bytes: Vec<u8>) -> io::Result<[u8; 32]> {
    bytes.try_into().map_err(|bytes: Vec<u8>| {
        let said = format!("it must have 32 bytes, and has {}: bring back the original", bytes.len());
        io::Error::new(ErrorKind::InvalidData, said)
    })
}
