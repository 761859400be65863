//! What the state folder holds for a facade: its store, the keys of its callers, and their credentials.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use loggia_credentials::{FacadeCredentials, VaultKey};
use loggia_gate::access::{CallerKeys, CallerLogins};
use loggia_login::{
    CallLogins, FacadeLogins,
    caller_vault::{CallerVault, LoginClients},
};
use loggia_policy::model::PluginGrants;
use loggia_postgres::{DatabaseAccess, DatabaseOptions, PostgresStores};
use loggia_schema::{Contract, SurfaceProblems};
use loggia_state::{StateError, StateFolder, StateStore};

/// The state folder, opened at first use.
pub struct FacadeStates {
    path: PathBuf,
    /// Option by which commands find what is kept here, after a space; empty if they need none.
    option: String,
    /// Whether the folder does not outlive the process.
    is_temporary: bool,
    /// Database that keeps the stores instead of the folder.
    database: Option<DatabaseOptions>,
    /// Key of credentials; `None`: the folder's own.
    vault_key: Option<VaultKey>,
    clients: LoginClients,
    logins: Arc<CallLogins>,
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
    /// Logins that issue the credentials, if the settings name an authorization server.
    pub logins: Option<Arc<FacadeLogins>>,
}

impl FacadeState {
    /// Lets the contract of the facade take the codes of logins, if callers have to send any.
    ///
    /// # Errors
    ///
    /// If the facade uses their name for a parameter.
    pub fn add_login_codes(&self, contract: Contract) -> Result<Contract, SurfaceProblems> {
        match self.logins.as_ref().is_some_and(|logins| logins.take_codes()) {
            true => contract.with_login_codes(),
            false => Ok(contract),
        }
    }

    /// Returns the logins for the catalog.
    pub fn caller_logins(&self) -> Option<Arc<dyn CallerLogins>> {
        self.logins.clone().map(|logins| logins as _)
    }
}

impl FacadeStates {
    /// Uses the folder at this path, and the database for stores.
    pub fn new(
        path: PathBuf,
        database: Option<DatabaseOptions>,
        vault_key: Option<VaultKey>,
        clients: LoginClients,
    ) -> Self {
        let (logins, folder) = (Arc::default(), Mutex::default());
        Self {
            path,
            option: String::new(),
            is_temporary: false,
            database,
            vault_key,
            clients,
            logins,
            folder,
        }
    }

    /// Sets the option by which commands find what is kept here, after a space.
    #[must_use]
    pub fn with_option(mut self, option: String) -> Self {
        self.option = option;
        self
    }

    /// Sets whether the folder does not outlive the process: then commits do not wait for the disk.
    #[must_use]
    pub fn temporary(mut self, is_temporary: bool) -> Self {
        self.is_temporary = is_temporary;
        self
    }

    /// Option by which commands find what is kept here, after a space; empty if they need none.
    pub fn option(&self) -> &str {
        &self.option
    }

    /// Logins of the callers of all facades.
    pub fn logins(&self) -> &Arc<CallLogins> {
        &self.logins
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
            None if self.is_temporary => Ok(folder.insert(StateFolder::open_temporary(&self.path)?).clone()),
            None => Ok(folder.insert(open_folder(&self.path, self.database.as_ref())?).clone()),
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
        let store = grants.store.map(|granted| folder.store(name, granted.quota)).transpose()?;
        let state = match grants.needs_credentials() {
            true => self.open_credentials(name)?,
            false => {
                FacadeState { caller_keys: Some(CallerKeys::new(folder.secret()?)), ..FacadeState::default() }
            }
        };
        Ok(FacadeState { store, ..state })
    }

    /// Opens the credentials of a facade's callers, with the keys and the logins of these callers.
    ///
    /// # Errors
    ///
    /// If the folder, its secret or the key of credentials cannot be used.
    pub fn open_credentials(&self, name: &str) -> Result<FacadeState, StateError> {
        let caller_keys = CallerKeys::new(self.folder()?.secret()?);
        let (vault, client) = (self.vault()?, self.clients.get(name).cloned());
        let credentials = Arc::new(vault.facade(name, client.clone()));
        let logins = client.map(|client| {
            let (logins, credentials) = (Arc::clone(&self.logins), Arc::clone(&credentials));
            Arc::new(FacadeLogins { logins, facade: name.to_owned(), client, credentials, vault })
        });
        Ok(FacadeState {
            store: None,
            caller_keys: Some(caller_keys),
            credentials: Some(credentials),
            logins,
        })
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

/// Opens a state folder, whose stores may be in a database, which is connected to at first use.
///
/// # Errors
///
/// If the folder or the options of the database cannot be used.
pub fn open_folder(path: &Path, database: Option<&DatabaseOptions>) -> Result<StateFolder, StateError> {
    let Some(database) = database else { return StateFolder::open(path) };
    let stores = DatabaseAccess::new(database).and_then(PostgresStores::new);
    let stores = stores.map_err(|error| StateError::Storage(error.to_string()))?;
    StateFolder::with_backend(path, Arc::new(stores))
}
