//! In the sandbox: the directories that the host opened for us.

use std::{io, path::PathBuf};

use wasip2::filesystem::{
    preopens::get_directories,
    types::{Descriptor, DescriptorFlags, DescriptorType, ErrorCode, OpenFlags, PathFlags},
};

use super::Named;
use crate::entry::Kind;

/// A directory that the host opened.
pub struct Base(Descriptor);

/// The granted directories, with the paths at which the policy puts them.
pub fn granted() -> Vec<(String, Base)> {
    get_directories().into_iter().map(|(directory, at)| (at, Base(directory))).collect()
}

impl Base {
    /// The guest's own path: the sandbox resolves it with its links, and lets none lead outside.
    pub fn real(&self, at: &str, below: &str, _follow: bool) -> io::Result<PathBuf> {
        Ok(PathBuf::from(format!("{at}/{below}")))
    }

    /// Not by `std`, for which the first name that is not UTF-8 is the end of the directory.
    pub fn names(&self, below: &str) -> io::Result<Vec<Named>> {
        let path = if below.is_empty() { "." } else { below };
        let directory = self
            .0
            .open_at(PathFlags::SYMLINK_FOLLOW, path, OpenFlags::DIRECTORY, DescriptorFlags::READ)
            .map_err(to_io)?;
        let stream = directory.read_directory().map_err(to_io)?;
        let mut names = Vec::new();
        loop {
            match stream.read_directory_entry() {
                Ok(Some(entry)) => names.push(Named { name: Some(entry.name), kind: kind(entry.type_) }),
                Ok(None) => return Ok(names),
                Err(ErrorCode::IllegalByteSequence) => names.push(Named { name: None, kind: Kind::Other }),
                Err(error) => return Err(to_io(error)),
            }
        }
    }
}

/// Tests whether a move failed because the target is on another device. Wasmtime 48 reports an I/O error (`EIO`, 29)
/// then; after a real I/O error, the copy fails as well.
pub fn crosses_devices(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::CrossesDevices || error.raw_os_error() == Some(29)
}

fn kind(kind: DescriptorType) -> Kind {
    match kind {
        DescriptorType::RegularFile => Kind::File,
        DescriptorType::Directory => Kind::Directory,
        DescriptorType::SymbolicLink => Kind::Link,
        _ => Kind::Other,
    }
}

fn to_io(error: ErrorCode) -> io::Error {
    match error {
        ErrorCode::NoEntry => io::ErrorKind::NotFound.into(),
        ErrorCode::Access | ErrorCode::NotPermitted => io::ErrorKind::PermissionDenied.into(),
        ErrorCode::NotDirectory => io::ErrorKind::NotADirectory.into(),
        error => io::Error::other(error.message()),
    }
}
