//! Sealed credentials, and their key.

use std::{
    any::Any,
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use loggia_egress::CallerKey;

use crate::{
    key::VaultKey,
    record::StoredCredential,
    seal::{SealPlace, open, seal},
    sealed::{FolderRecords, SealedRecords},
};

/// Error of a vault.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// A file or folder cannot be used.
    #[error("{path}: {error}")]
    Storage {
        /// Path of the file or folder, or where it is otherwise.
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
pub struct ChangeLock(#[expect(dead_code, reason = "it is held, not read")] Box<dyn Any + Send>);

impl fmt::Debug for ChangeLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChangeLock")
    }
}

/// Credentials of all facades. Touches nothing before it is used.
#[derive(Debug, Clone)]
pub struct CredentialVault {
    records: Arc<dyn SealedRecords>,
    key: VaultKey,
}

impl CredentialVault {
    /// Uses the files of a state folder.
    pub fn new(state: &Path, key: VaultKey) -> Self {
        Self::with_records(Arc::new(FolderRecords::new(state)), key)
    }

    /// Uses credentials that are kept elsewhere.
    pub fn with_records(records: Arc<dyn SealedRecords>, key: VaultKey) -> Self {
        Self { records, key }
    }

    /// Reads the credential of a caller.
    ///
    /// # Errors
    ///
    /// [`VaultError`] if there is one that cannot be read.
    pub fn read(&self, facade: &str, caller: CallerKey) -> Result<Option<StoredCredential>, VaultError> {
        let sealed = self.records.read(facade, caller).map_err(|error| self.failed(facade, caller, error))?;
        let Some(sealed) = sealed else { return Ok(None) };
        let text = open(&self.key, &SealPlace { facade, caller: &caller.0 }, &sealed);
        let credential = text.ok().and_then(|text| serde_json::from_slice(&text).ok());
        credential.map(Some).ok_or_else(|| VaultError::Sealed(self.records.place(facade, caller)))
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
        let store = || {
            let text = serde_json::to_vec(credential)?;
            let sealed = seal(&self.key, &SealPlace { facade, caller: &caller.0 }, &text)
                .map_err(|_| io::Error::other("it cannot be encrypted"))?;
            self.records.write(facade, caller, &sealed)
        };
        store().map_err(|error| self.failed(facade, caller, error))
    }

    /// Locks the credential of a caller against other changes until the result is dropped: by refreshes, commands and
    /// administrators, in all processes. Blocks while another change holds the lock. [`write`](Self::write) and [`remove`](Self::remove) do not
    /// lock, so that several steps can be one change.
    ///
    /// # Errors
    ///
    /// [`VaultError::Storage`] if the lock's file cannot be used.
    pub fn lock(&self, facade: &str, caller: CallerKey) -> Result<ChangeLock, VaultError> {
        let lock = self.records.lock(facade, caller);
        lock.map(ChangeLock).map_err(|error| self.failed(facade, caller, error))
    }

    fn failed(&self, facade: &str, caller: CallerKey, error: io::Error) -> VaultError {
        VaultError::Storage { path: self.records.place(facade, caller), error }
    }

    /// Removes the credential of a caller; returns whether there was one.
    ///
    /// # Errors
    ///
    /// [`VaultError::Storage`] if it cannot be removed.
    pub fn remove(&self, facade: &str, caller: CallerKey) -> Result<bool, VaultError> {
        self.records.remove(facade, caller).map_err(|error| self.failed(facade, caller, error))
    }

    /// Lists the credentials of all facades, by facade and key.
    ///
    /// # Errors
    ///
    /// [`VaultError::Storage`] if a folder cannot be read.
    pub fn list(&self) -> Result<Vec<ListedCredential>, VaultError> {
        let owners =
            self.records.list().map_err(|error| VaultError::Storage { path: self.records.root(), error })?;
        let listed = owners.into_iter().filter_map(|(facade, key)| {
            let credential = self.read(&facade, key).transpose()?;
            Some(ListedCredential { facade, key, credential })
        });
        Ok(listed.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

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
            let file = File::open(vault.records.place("shop", caller).with_extension("lock")).unwrap();
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
        fs::copy(vault.records.place("shop", ada), vault.records.place("shop", bob)).unwrap();
        assert!(matches!(vault.read("shop", bob), Err(VaultError::Sealed(_))));
        let other = CredentialVault::new(state.path(), VaultKey([2; 32]));
        assert!(matches!(other.read("shop", ada), Err(VaultError::Sealed(_))));
        let listed = vault.list().unwrap();
        assert_eq!(listed.iter().filter(|listed| listed.credential.is_err()).count(), 1);
    }
}
