//! What the state folder holds for a facade: its store, the keys of its callers, and their credentials.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use loggia_credentials::{FacadeCredentials, VaultKey};
use loggia_gate::access::CallerKeys;
use loggia_policy::model::PluginGrants;
use loggia_state::{StateError, StateFolder, StateStore};

use crate::caller_vault::{CallerVault, LoginClients};

/// The state folder, opened at first use.
pub struct FacadeStates {
    path: PathBuf,
    /// Key of credentials; `None`: the folder's own.
    vault_key: Option<VaultKey>,
    logins: LoginClients,
    /// The folder, once opened: shared by all facades and versions with its connections. Opened under the lock, so that it is
    /// opened once.
    folder: Mutex<Option<StateFolder>>,
}

/// State of one facade.
#[derive(Default)]
pub struct FacadeState {
    pub store: Option<StateStore>,
    pub caller_keys: Option<CallerKeys>,
    pub credentials: Option<Arc<FacadeCredentials>>,
}

impl FacadeStates {
    /// Uses the folder at this path.
    pub fn new(path: PathBuf, vault_key: Option<VaultKey>, logins: LoginClients) -> Self {
        Self { path, vault_key, logins, folder: Mutex::default() }
    }

    /// Opens the folder; creates it if it is missing.
    ///
    /// # Errors
    ///
    /// If it cannot be opened; the next call retries.
    pub fn folder(&self) -> Result<StateFolder, StateError> {
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        match &*folder {
            Some(folder) => Ok(folder.clone()),
            None => Ok(folder.insert(StateFolder::open(&self.path)?).clone()),
        }
    }

    /// Opens what the grants of a facade need of the folder.
    ///
    /// # Errors
    ///
    /// If the folder, its secret or the key of credentials cannot be used.
    pub fn open(&self, name: &str, grants: &PluginGrants) -> Result<FacadeState, StateError> {
        if !grants.needs_state() {
            return Ok(FacadeState::default());
        }
        let folder = self.folder()?;
        let store = grants.store.map(|quota| folder.store(name, quota)).transpose()?;
        if !grants.needs_credentials() {
            return Ok(FacadeState {
                store,
                caller_keys: Some(CallerKeys::new(folder.secret()?)),
                credentials: None,
            });
        }
        let (credentials, caller_keys) = self.open_credentials(name)?;
        Ok(FacadeState { store, caller_keys: Some(caller_keys), credentials: Some(credentials) })
    }

    /// Opens the credentials of a facade's callers, with the keys of these callers.
    ///
    /// # Errors
    ///
    /// If the folder, its secret or the key of credentials cannot be used.
    pub fn open_credentials(&self, name: &str) -> Result<(Arc<FacadeCredentials>, CallerKeys), StateError> {
        let caller_keys = CallerKeys::new(self.folder()?.secret()?);
        let login = self.logins.get(name).cloned();
        Ok((Arc::new(self.vault()?.facade(name, login)), caller_keys))
    }

    /// Opens the credentials of all callers.
    ///
    /// # Errors
    ///
    /// If the folder, its secret or the key of credentials cannot be used.
    pub fn vault(&self) -> Result<CallerVault, StateError> {
        CallerVault::open(&self.folder()?, self.vault_key.clone())
    }
}
