//! Credentials by the names of facades and callers, as an operator knows them.

use std::{collections::BTreeMap, sync::Arc};

use loggia_credentials::{
    CallerName, CredentialVault, FacadeCredentials, ListedCredential, StoredCredential, VaultError, VaultKey,
    oauth::{OAuthClient, OAuthGrant},
};
use loggia_egress::CallerKey;
use loggia_gate::access::{Caller, CallerKeys};
use loggia_policy::settings::LoginServer;
use loggia_state::{StateError, StateFolder};

use crate::shared_credentials::SharedCredentials;

/// Why credentials in a database cannot be used. A key of one state folder would make them unreadable for all other servers.
const NEEDS_KEY: &str = "callers' credentials are in the database, where all servers need the same key: set \
                         LOGGIA_CREDENTIAL_KEY on each of them (`openssl rand -base64 32`)";

/// Credentials of a state folder, or of its database.
#[derive(Clone)]
pub struct CallerVault {
    vault: Arc<CredentialVault>,
    keys: CallerKeys,
}

/// Clients of authorization servers, by facade.
pub type LoginClients = BTreeMap<String, OAuthClient>;

/// Converts the authorization servers of the settings.
pub fn to_login_clients(servers: &BTreeMap<String, LoginServer>) -> LoginClients {
    let client = |server: &LoginServer| OAuthClient {
        authorize: server.authorize.0.clone(),
        token: server.token.0.clone(),
        client_id: server.client_id.clone(),
        client_secret: server.client_secret.clone().map(|secret| secret.0),
        scopes: server.scopes.clone(),
        resource: server.resource.clone(),
    };
    servers.iter().map(|(facade, server)| (facade.clone(), client(server))).collect()
}

/// Error of storing a credential.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The facade's or the caller's name, or the value.
    #[error("{0}")]
    Invalid(String),
    /// The file.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl CallerVault {
    /// Opens the credentials of a folder. Without a key, that of the folder decrypts them; it is created if it is missing. With a
    /// database, there must be a key.
    ///
    /// # Errors
    ///
    /// If the folder's secret or key cannot be used.
    pub fn open(folder: &StateFolder, key: Option<VaultKey>) -> Result<Self, StateError> {
        let path = folder.path();
        if folder.is_shared() {
            let key = key.ok_or_else(|| StateError::Invalid(NEEDS_KEY.to_owned()))?;
            let records = Arc::new(SharedCredentials::new(folder));
            let vault = Arc::new(CredentialVault::with_records(records, key));
            return Ok(Self { vault, keys: CallerKeys::new(folder.secret()?) });
        }
        let key = match key {
            Some(key) => key,
            None => VaultKey::read_or_create(path).map_err(|error| {
                StateError::Storage(format!("the key of credentials in {}: {error}", path.display()))
            })?,
        };
        let vault = Arc::new(CredentialVault::new(path, key));
        Ok(Self { vault, keys: CallerKeys::new(folder.secret()?) })
    }

    /// Returns the credentials of one facade, for its requests. `login` refreshes access tokens.
    pub fn facade(&self, name: &str, login: Option<OAuthClient>) -> FacadeCredentials {
        FacadeCredentials::new(Arc::clone(&self.vault), name, login)
    }

    /// Stores the credential of a caller, in place of another one. Running servers use it from the next request on.
    ///
    /// # Errors
    ///
    /// [`CredentialError`]; nothing is changed then.
    pub fn set(&self, facade: &str, caller: CallerName, value: &str) -> Result<(), CredentialError> {
        self.store(facade, caller, value, None)
    }

    /// Stores an access token of a caller with what the authorization server issued beside it.
    ///
    /// # Errors
    ///
    /// [`CredentialError`]; nothing is changed then.
    pub fn store_login(
        &self,
        facade: &str,
        caller: CallerName,
        value: &str,
        grant: OAuthGrant,
    ) -> Result<(), CredentialError> {
        self.store(facade, caller, value, Some(grant))
    }

    fn store(
        &self,
        facade: &str,
        caller: CallerName,
        value: &str,
        oauth: Option<OAuthGrant>,
    ) -> Result<(), CredentialError> {
        let key = self.key(facade, &caller)?;
        let credential = StoredCredential::new(caller, value)
            .map_err(|reason| CredentialError::Invalid(format!("the credential {reason}")))?;
        // A refresh that runs must not restore the credential before.
        let _lock = self.vault.lock(facade, key)?;
        Ok(self.vault.write(facade, key, &StoredCredential { oauth, ..credential })?)
    }

    /// Removes the credential of a caller; returns whether there was one.
    ///
    /// # Errors
    ///
    /// [`CredentialError`].
    pub fn remove(&self, facade: &str, caller: &CallerName) -> Result<bool, CredentialError> {
        let key = self.key(facade, caller)?;
        if self.vault.read(facade, key).is_ok_and(|found| found.is_none()) {
            return Ok(false);
        }
        let _lock = self.vault.lock(facade, key)?;
        Ok(self.vault.remove(facade, key)?)
    }

    /// Lists all credentials.
    ///
    /// # Errors
    ///
    /// If a folder cannot be read.
    pub fn list(&self) -> Result<Vec<ListedCredential>, VaultError> {
        self.vault.list()
    }

    fn key(&self, facade: &str, caller: &CallerName) -> Result<CallerKey, CredentialError> {
        StateFolder::check_name(facade).map_err(|_| {
            let rule = "up to 32 of a-z, 0-9, _ and -, a letter first";
            CredentialError::Invalid(format!("`{facade}` is not the name of a facade: {rule}"))
        })?;
        let caller = match caller {
            CallerName::Local => Caller::Local,
            CallerName::Named(name) if name.is_empty() => {
                return Err(CredentialError::Invalid("the name of the caller is empty".to_owned()));
            }
            CallerName::Named(name) => Caller::Named(name.as_str().into()),
        };
        let key = self.keys.key_for(&caller, facade).map(|key| CallerKey(key.0));
        key.ok_or_else(|| CredentialError::Invalid("an unauthenticated caller has no credentials".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_before_files_are_touched() {
        let state = tempfile::tempdir().unwrap();
        let folder = StateFolder::open(state.path()).unwrap();
        let vault = CallerVault::open(&folder, None).unwrap();
        let ada = || CallerName::Named("ada".to_owned());
        for (facade, caller, value) in [
            ("../x", ada(), "long-enough"),
            ("", ada(), "long-enough"),
            ("Shop", ada(), "long-enough"),
            ("shop", CallerName::Named(String::new()), "long-enough"),
            ("shop", ada(), "short"),
            ("shop", ada(), "two\nlines-of-it"),
        ] {
            let refused = vault.set(facade, caller, value).unwrap_err();
            assert!(matches!(refused, CredentialError::Invalid(_)), "{facade} {refused}");
        }
        assert!(vault.list().unwrap().is_empty());
        vault.set("shop", CallerName::Local, "of-the-local-user").unwrap();
        vault.set("shop", ada(), "of-ada-herself").unwrap();
        assert_eq!(vault.list().unwrap().len(), 2);
        assert!(vault.remove("shop", &ada()).unwrap() && !vault.remove("shop", &ada()).unwrap());
    }
}
