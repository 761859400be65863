//! Digests of files from which plugins are built.

use std::{
    fs::{self, Metadata},
    path::Path,
    time::UNIX_EPOCH,
};

use sha2::{Digest, Sha256};

/// Digest of a file, or of files with their names.
pub type InputDigest = [u8; 32];

/// Files above this size count as their length and time.
const MAX_READ: u64 = 4 << 20;

/// Digests a file; `None` if it is missing.
pub(super) fn digest_file(path: &Path) -> Option<InputDigest> {
    let file = fs::metadata(path).ok().filter(Metadata::is_file)?;
    let mut digest = Sha256::new();
    add_content(&mut digest, path, &file);
    Some(digest.finalize().into())
}

/// Adds the content of a file to a digest.
pub(super) fn add_content(digest: &mut Sha256, path: &Path, file: &Metadata) {
    if file.len() <= MAX_READ
        && let Ok(bytes) = fs::read(path)
    {
        return digest.update(Sha256::digest(bytes));
    }
    let time = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    digest.update(file.len().to_le_bytes());
    digest.update(time.unwrap_or_default().as_nanos().to_le_bytes());
}
