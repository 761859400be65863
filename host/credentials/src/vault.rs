//! The files of a vault.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use loggia_egress::CallerKey;
use loggia_system::{file::private_options, folder};

use crate::{
    key::VaultKey,
    record::StoredCredential,
    seal::{SealPlace, open, seal},
};

/// Subfolder of the state folder.
const FOLDER: &str = "credentials";
/// Bytes of the largest file that is read.
const FILE_BYTES: u64 = 64 << 10;

/// Error of a vault.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// A file or folder cannot be used.
    #[error("{path}: {error}")]
    Storage {
        /// Path of the file or folder.
        path: PathBuf,
        /// Cause.
        error: io::Error,
    },
    /// A file was encrypted with another key or for another caller, or is damaged.
    #[error(
        "{0} cannot be decrypted: it was encrypted with another key, moved or damaged; restore the key, or set the credential again"
    )]
    Sealed(PathBuf),
}

/// A credential, or the reason why it cannot be read.
#[derive(Debug)]
pub struct ListedCredential {
    /// Facade that uses it.
    pub facade: String,
    /// Key of its owner.
    pub key: CallerKey,
    /// The credential.
    pub credential: Result<StoredCredential, VaultError>,
}

/// Right to change one credential, until it is dropped.
#[derive(Debug)]
pub struct ChangeLock(#[expect(dead_code, reason = "its descriptor holds the lock")] File);

/// Credentials of all facades. Touches no file before it is used.
#[derive(Debug, Clone)]
pub struct CredentialVault {
    folder: PathBuf,
    key: VaultKey,
}

impl CredentialVault {
    /// Uses the vault of a state folder.
    pub fn new(state: &Path, key: VaultKey) -> Self {
        Self { folder: state.join(FOLDER), key }
    }

    /// Reads the credential of a caller.
    ///
    /// # Errors
    ///
    /// [`VaultError`] if there is one that cannot be read.
    pub fn read(&self, facade: &str, caller: CallerKey) -> Result<Option<StoredCredential>, VaultError> {
        let path = self.path(facade, caller);
        let sealed = match read_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            found => found.map_err(|error| VaultError::Storage { path: path.clone(), error })?,
        };
        let text = open(&self.key, &SealPlace { facade, caller: &caller.0 }, &sealed);
        let credential = text.ok().and_then(|text| serde_json::from_slice(&text).ok());
        credential.map(Some).ok_or(VaultError::Sealed(path))
    }

    /// Stores the credential of a caller, in place of another one.
    ///
    /// # Errors
    ///
    /// [`VaultError::Storage`] if it cannot be written; the previous one is kept.
    pub fn write(
        &self,
        facade: &str,
        caller: CallerKey,
        credential: &StoredCredential,
    ) -> Result<(), VaultError> {
        let path = self.path(facade, caller);
        let store = || {
            let within = self.create_folder(facade)?;
            let text = serde_json::to_vec(credential)?;
            let sealed = seal(&self.key, &SealPlace { facade, caller: &caller.0 }, &text)
                .map_err(|_| io::Error::other("it cannot be encrypted"))?;
            // Temporary files are readable by their owner only.
            let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&within)?;
            file.write_all(&sealed)?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            folder::sync(&within)
        };
        store().map_err(|error| VaultError::Storage { path: path.clone(), error })
    }

    /// Locks the credential of a caller against other changes until the result is dropped: by refreshes, commands and
    /// administrators, in all processes. Blocks while another change holds the lock. [`write`](Self::write) and [`remove`](Self::remove) do not
    /// lock, so that several steps can be one change.
    ///
    /// # Errors
    ///
    /// [`VaultError::Storage`] if the lock's file cannot be used.
    pub fn lock(&self, facade: &str, caller: CallerKey) -> Result<ChangeLock, VaultError> {
        let path = self.path(facade, caller).with_extension("lock");
        let open = || {
            self.create_folder(facade)?;
            let file = private_options().create(true).truncate(false).write(true).open(&path)?;
            file.lock()?;
            Ok(ChangeLock(file))
        };
        open().map_err(|error| VaultError::Storage { path: path.clone(), error })
    }

    fn create_folder(&self, facade: &str) -> io::Result<PathBuf> {
        let within = self.folder.join(facade);
        folder::create_private(&within)?;
        Ok(within)
    }

    /// Removes the credential of a caller; returns whether there was one.
    ///
    /// # Errors
    ///
    /// [`VaultError::Storage`] if it cannot be removed.
    pub fn remove(&self, facade: &str, caller: CallerKey) -> Result<bool, VaultError> {
        let path = self.path(facade, caller);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(VaultError::Storage { path, error }),
        }
    }

    /// Lists the credentials of all facades, by facade and key.
    ///
    /// # Errors
    ///
    /// [`VaultError::Storage`] if a folder cannot be read.
    pub fn list(&self) -> Result<Vec<ListedCredential>, VaultError> {
        let mut listed = Vec::new();
        for facade in names(&self.folder)? {
            for name in names(&self.folder.join(&facade))? {
                let Some(key) = parse_hex(&name) else { continue };
                let credential = self.read(&facade, key).transpose();
                listed.extend(credential.map(|credential| ListedCredential {
                    facade: facade.clone(),
                    key,
                    credential,
                }));
            }
        }
        Ok(listed)
    }

    fn path(&self, facade: &str, caller: CallerKey) -> PathBuf {
        self.folder.join(facade).join(to_hex(&caller.0))
    }
}

/// Reads a file that a vault may have written.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let meta = fs::metadata(path)?;
    // Reading a pipe would block until something is written to it.
    if !meta.is_file() || meta.len() > FILE_BYTES {
        return Err(io::Error::new(ErrorKind::InvalidData, "not a file of a vault"));
    }
    fs::read(path)
}

/// Names in a folder, sorted; none without a folder.
fn names(folder: &Path) -> Result<Vec<String>, VaultError> {
    let read = || {
        let entries = match fs::read_dir(folder) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            entries => entries?,
        };
        let names = entries.map(|entry| Ok(entry?.file_name().into_string().ok()));
        let mut names: Vec<String> = names.filter_map(Result::transpose).collect::<io::Result<_>>()?;
        names.sort_unstable();
        Ok(names)
    };
    read().map_err(|error| VaultError::Storage { path: folder.to_owned(), error })
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse_hex(text: &str) -> Option<CallerKey> {
    let byte = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok()?;
        (!text.starts_with('+')).then(|| u8::from_str_radix(text, 16).ok())?
    };
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
    bytes?.try_into().ok().map(CallerKey)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::CallerName;

    fn credential(name: &str, value: &str) -> StoredCredential {
        StoredCredential::new(CallerName::Named(name.into()), value).unwrap()
    }

    #[test]
    fn credentials_are_kept_by_facade_and_caller() {
        let state = tempfile::tempdir().unwrap();
        let vault = CredentialVault::new(state.path(), VaultKey([1; 32]));
        let (ada, bob) = (CallerKey([1; 32]), CallerKey([2; 32]));
        assert!(vault.list().unwrap().is_empty());
        assert_eq!(vault.read("shop", ada).unwrap(), None);
        assert!(!vault.remove("shop", ada).unwrap());
        vault.write("shop", ada, &credential("ada", "value-of-ada")).unwrap();
        vault.write("shop", bob, &credential("bob", "value-of-bob")).unwrap();
        vault.write("shop", ada, &credential("ada", "new-of-ada")).unwrap();
        vault.write("mail", ada, &credential("ada", "mail-of-ada")).unwrap();
        let value = |facade, caller| vault.read(facade, caller).unwrap().map(|found| found.value);
        assert_eq!(value("shop", ada).as_deref(), Some("new-of-ada"));
        assert_eq!(value("shop", bob).as_deref(), Some("value-of-bob"));
        assert_eq!(value("mail", bob), None);
        let listed: Vec<String> = vault
            .list()
            .unwrap()
            .into_iter()
            .map(|listed| format!("{} {}", listed.facade, listed.credential.unwrap().caller))
            .collect();
        assert_eq!(listed, ["mail ada", "shop ada", "shop bob"]);
        assert!(vault.remove("shop", ada).unwrap());
        assert_eq!(value("shop", ada), None);
    }

    #[test]
    fn one_change_at_a_time() {
        let state = tempfile::tempdir().unwrap();
        let vault = CredentialVault::new(state.path(), VaultKey([1; 32]));
        let (ada, bob) = (CallerKey([1; 32]), CallerKey([2; 32]));
        let is_free = |caller| {
            let file = File::open(vault.path("shop", caller).with_extension("lock")).unwrap();
            file.try_lock().is_ok()
        };
        let lock = vault.lock("shop", ada).unwrap();
        drop(vault.lock("shop", bob).unwrap());
        assert_eq!([is_free(ada), is_free(bob)], [false, true]);
        drop(lock);
        assert!(is_free(ada));
        assert!(vault.list().unwrap().is_empty(), "locks are no credentials");
    }

    #[test]
    fn a_copied_credential_cannot_be_used() {
        let state = tempfile::tempdir().unwrap();
        let vault = CredentialVault::new(state.path(), VaultKey([1; 32]));
        let (ada, bob) = (CallerKey([1; 32]), CallerKey([2; 32]));
        vault.write("shop", ada, &credential("ada", "value-of-ada")).unwrap();
        fs::copy(vault.path("shop", ada), vault.path("shop", bob)).unwrap();
        assert!(matches!(vault.read("shop", bob), Err(VaultError::Sealed(_))));
        let other = CredentialVault::new(state.path(), VaultKey([2; 32]));
        assert!(matches!(other.read("shop", ada), Err(VaultError::Sealed(_))));
        let listed = vault.list().unwrap();
        assert_eq!(listed.iter().filter(|listed| listed.credential.is_err()).count(), 1);
    }
}
