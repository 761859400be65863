//! Temporary files next to the files of a round trip: drafts of the new ones, and the old ones.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
};

use loggia_sdk::prelude::*;

use super::OURS;
use crate::{roots::Place, version};

/// Name of a temporary file next to a file of a round trip.
pub fn named(number: u64, at: usize, attempt: u32, kind: &str) -> String {
    format!("{OURS}rt{number}-{at}.{attempt}.{kind}")
}

/// Something in the same directory.
pub fn sibling<'r>(place: &Place<'r>, name: &str) -> Place<'r> {
    place.parent().map_or_else(|| place.join(name), |parent| parent.join(name))
}

/// Converts an error of creating a temporary file.
pub fn failed(place: &Place, error: io::Error) -> Failure {
    if error.kind() != io::ErrorKind::AlreadyExists {
        return place.unchanged(error);
    }
    Failure::conflict(format!("a temporary name is taken next to {}", place.path()))
        .hint(format!("`list` with `hidden: true` shows it: it begins with `{OURS}rt`."))
}

/// Writes a new file, to the disk.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Copies a file, if hard links are not supported, atomically. Only with this content, since another worker may have
/// written the new one meanwhile, and need the old one that it kept.
pub fn copy(from: &Path, sha256: &str, beside: &Path, to: &Path) -> io::Result<()> {
    let content = fs::read(from)?;
    if version::sha256(&content) != sha256 {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    write(beside, &content)?;
    fs::rename(beside, to)
}

/// Moves a draft to a free name. Unlike [`place_anew`](crate::draft::place_anew) it keeps the new file if the draft
/// cannot be removed: another worker may have found it in place and finished.
pub fn anew(draft: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(draft, to) {
        Ok(()) => {
            let _ = fs::remove_file(draft);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(draft, to),
    }
}
