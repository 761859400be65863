//! The last checkpoint of a file, kept in the state folder: whoever cuts the end of the file does not change it there.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    chain::{ChainHead, hash_line},
    key::{AuditKey, PublicKey},
};

/// Folder of the heads, in the state folder.
const FOLDER: &str = "audit-heads";

/// The head of a file's chain, as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredHead {
    file: PathBuf,
    seq: u64,
    hash: String,
    signature: String,
}

impl StoredHead {
    fn signed_text(&self) -> String {
        format!("loggia audit head 1\n{}\n{}\n{}", self.file.display(), self.seq, self.hash)
    }
}

/// Where the head of a file is stored.
pub(crate) struct HeadFile {
    /// The audit file.
    file: PathBuf,
    path: PathBuf,
}

impl HeadFile {
    /// The head of an audit file with an absolute path.
    pub(crate) fn new(state: &Path, file: &Path) -> Self {
        let name = hash_line(file.as_os_str().as_encoded_bytes());
        Self { file: file.to_owned(), path: state.join(FOLDER).join(format!("{}.json", &name[..32])) }
    }

    /// Reads the head; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or the key has not signed it.
    pub(crate) fn read(&self, key: &PublicKey) -> io::Result<Option<ChainHead>> {
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes?,
        };
        let stored = serde_json::from_slice::<StoredHead>(&bytes).ok();
        let stored = stored.filter(|stored| {
            stored.file == self.file && key.has_signed(&stored.signed_text(), &stored.signature)
        });
        let invalid =
            || io::Error::other(format!("{} was changed: its signature is not valid", self.path.display()));
        stored.map(|stored| Some(ChainHead { seq: stored.seq, hash: stored.hash })).ok_or_else(invalid)
    }

    /// Replaces the head.
    pub(crate) fn write(&self, head: &ChainHead, key: &AuditKey) -> io::Result<()> {
        let mut stored = StoredHead {
            file: self.file.clone(),
            seq: head.seq,
            hash: head.hash.clone(),
            signature: String::new(),
        };
        stored.signature = key.sign(&stored.signed_text());
        let folder = self.path.parent().unwrap_or(&self.path);
        loggia_system::folder::ensure_private(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(&stored)?)?;
        file.persist(&self.path).map(drop).map_err(|error| error.error)
    }
}
