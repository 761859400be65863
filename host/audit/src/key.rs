//! The key that signs, in the state folder.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use loggia_system::file::{is_exposed, open_no_link, private_options};
use ring::{
    rand::SystemRandom,
    signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey},
};

/// Name of the file.
const FILE: &str = "audit.key";
/// Prefix of a public key as text.
const PREFIX: &str = "ed25519:";

/// Error of the key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(PathBuf, #[source] io::Error),
    /// The mode allows access to others than the owner.
    #[error("{0}, which others than its owner may use: `chmod 600` it")]
    Exposed(PathBuf),
    /// The file holds no key.
    #[error(
        "{0}, which holds no Ed25519 key: restore it from a backup, or remove it to begin with a new key"
    )]
    Damaged(PathBuf),
    /// The system gave no random bits.
    #[error("no key can be created")]
    Unavailable,
    /// A text is no public key.
    #[error("{0:?} is not a public key: it has the form ed25519:BASE64, as `loggia audit key` prints it")]
    NotPublic(String),
}

/// The key pair that signs checkpoints.
pub struct AuditKey(Ed25519KeyPair);

impl AuditKey {
    /// Reads the key of a state folder, or creates it.
    ///
    /// # Errors
    ///
    /// [`KeyError`].
    pub fn open(state: &Path) -> Result<Self, KeyError> {
        if let Some(key) = Self::read(state)? {
            return Ok(key);
        }
        let path = state.join(FILE);
        let failed = |error| KeyError::Io(path.clone(), error);
        let document =
            Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| KeyError::Unavailable)?;
        loggia_system::folder::ensure_private(state).map_err(failed)?;
        let mut file = tempfile::NamedTempFile::new_in(state).map_err(failed)?;
        file.write_all(document.as_ref()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        // Another process may create one at the same moment: the first stays.
        match file.persist_noclobber(&path) {
            Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(error.error));
            }
            _ => {}
        }
        Self::read(state)?.ok_or(KeyError::Damaged(path))
    }

    /// Reads the key of a state folder, if it has one.
    ///
    /// # Errors
    ///
    /// [`KeyError`].
    pub fn read(state: &Path) -> Result<Option<Self>, KeyError> {
        let path = state.join(FILE);
        let failed = |error| KeyError::Io(path.clone(), error);
        let file = match open_no_link(private_options().read(true)).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(failed)?,
        };
        if is_exposed(&file.metadata().map_err(failed)?) {
            return Err(KeyError::Exposed(path));
        }
        let bytes = fs::read(&path).map_err(failed)?;
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(&bytes)
            .map(|pair| Some(Self(pair)))
            .map_err(|_| KeyError::Damaged(path))
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.public_key().as_ref().to_vec())
    }

    /// Signs a text. Returns base64.
    pub(crate) fn sign(&self, text: &str) -> String {
        BASE64_STANDARD.encode(self.0.sign(text.as_bytes()).as_ref())
    }
}

/// The key that verifies checkpoints. Displays as `ed25519:BASE64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(Vec<u8>);

impl PublicKey {
    /// Parses `ed25519:BASE64`.
    ///
    /// # Errors
    ///
    /// [`KeyError::NotPublic`].
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let bytes = text.strip_prefix(PREFIX).and_then(|text| BASE64_STANDARD.decode(text).ok());
        let bytes = bytes.filter(|bytes| bytes.len() == 32);
        bytes.map(Self).ok_or_else(|| KeyError::NotPublic(text.to_owned()))
    }

    /// Returns true if a text was signed by this key.
    pub(crate) fn has_signed(&self, text: &str, signature: &str) -> bool {
        let Ok(signature) = BASE64_STANDARD.decode(signature) else { return false };
        UnparsedPublicKey::new(&ED25519, &self.0).verify(text.as_bytes(), &signature).is_ok()
    }
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{PREFIX}{}", BASE64_STANDARD.encode(&self.0))
    }
}
