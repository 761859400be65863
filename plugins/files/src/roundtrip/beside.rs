//! What lies beside the files of a round trip while it is carried out: drafts of the new, and the old.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
};

use loggia_sdk::prelude::*;

use super::OURS;
use crate::{roots::Place, version};

/// The name of what lies beside a file while a round trip is carried out.
pub fn named(number: u64, at: usize, attempt: u32, kind: &str) -> String {
    format!("{OURS}rt{number}-{at}.{attempt}.{kind}")
}

/// Something in the same directory.
pub fn sibling<'r>(place: &Place<'r>, name: &str) -> Place<'r> {
    place.parent().map_or_else(|| place.join(name), |parent| parent.join(name))
}

/// What happened when something was to be put beside a file.
pub fn failed(place: &Place, error: io::Error) -> Failure {
    if error.kind() != io::ErrorKind::AlreadyExists {
        return place.unchanged(error);
    }
    Failure::conflict(format!("a name is taken that is needed beside {}", place.path()))
        .hint(format!("`list` with `hidden: true` shows it: it begins with `{OURS}rt`."))
}

/// Writes a new file, to the disk.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Copies a file, where there are no hard links: whole or not at all. Only one of this content, for another worker may
/// have written the new one meanwhile, and need the old one that it kept.
pub fn copy(from: &Path, sha256: &str, beside: &Path, to: &Path) -> io::Result<()> {
    let content = fs::read(from)?;
    if version::sha256(&content) != sha256 {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    write(beside, &content)?;
    fs::rename(beside, to)
}

/// Moves a draft where nothing is. Unlike [`place_anew`](crate::draft::place_anew) it leaves the new file where the draft
/// cannot be removed: another worker may have found it in place, and done with it.
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
