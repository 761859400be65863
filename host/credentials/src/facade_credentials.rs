//! The credentials of one facade, for its requests.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Weak},
};

use loggia_egress::{CallerCredentials, CallerKey, IoFuture};
use parking_lot::Mutex;
use tokio::task::spawn_blocking;

use crate::{
    oauth::{OAuthClient, OAuthGrant, RefreshError, refresh},
    record::StoredCredential,
    time::now,
    vault::{CredentialVault, VaultError},
};

/// Reads the credentials of one facade's callers for each request, so that a change counts at once. Replaces access tokens
/// that are about to expire.
#[derive(Clone)]
pub struct FacadeCredentials(Arc<CredentialSource>);

struct CredentialSource {
    vault: Arc<CredentialVault>,
    facade: String,
    /// The client that refreshes access tokens; none if the settings name no authorization server.
    oauth: Option<OAuthClient>,
    /// Refreshes of this process, by caller: a caller's requests wait for one refresh instead of each using up the refresh
    /// token. Locked to find or add an entry, never across an await; the entries themselves are held during a refresh.
    refreshes: Mutex<HashMap<CallerKey, Weak<tokio::sync::Mutex<()>>>>,
    /// Callers whose credential could be used when it was last read, each with the time from which it cannot be used without a
    /// refresh. Spares the check before a call a reading of the file, which the call's requests repeat; if it is out of date,
    /// they find out. Locked to look up or change one entry.
    usable: Mutex<HashMap<CallerKey, u64>>,
}

impl FacadeCredentials {
    /// Uses the credentials of a facade of this name. Access tokens are refreshed by `oauth`.
    pub fn new(vault: Arc<CredentialVault>, facade: &str, oauth: Option<OAuthClient>) -> Self {
        let facade = facade.to_owned();
        let (refreshes, usable) = (Mutex::default(), Mutex::default());
        Self(Arc::new(CredentialSource { vault, facade, oauth, refreshes, usable }))
    }

    /// Whether a caller has a credential, which is refreshed if that is due. Reads no file if a usable one was found before.
    ///
    /// # Errors
    ///
    /// If the credential cannot be read or refreshed.
    pub async fn has_credential(&self, caller: CallerKey) -> io::Result<bool> {
        Ok(self.0.was_usable(caller) || self.credential(caller).await?.is_some())
    }

    /// Whether a credential of a caller is stored that can be used, perhaps after a refresh. Blocks for reading a file.
    pub fn is_stored(&self, caller: CallerKey) -> bool {
        let can_be_used = |found: StoredCredential| {
            found.oauth.is_none_or(|grant| grant.refresh.is_some() || !grant.has_expired(now()))
        };
        self.0.was_usable(caller)
            || self.0.vault.read(&self.0.facade, caller).is_ok_and(|found| found.is_some_and(can_be_used))
    }
}

impl CallerCredentials for FacadeCredentials {
    fn credential(&self, caller: CallerKey) -> IoFuture<Option<String>> {
        let source = Arc::clone(&self.0);
        Box::pin(async move {
            let credential = source.read(caller).await?;
            match (credential, &source.oauth) {
                (Some(StoredCredential { oauth: Some(grant), .. }), Some(client)) if grant.is_due(now()) => {
                    source.refreshed(caller, client).await
                }
                (credential, _) => Ok(source.settle(caller, credential)),
            }
        })
    }
}

/// Callers that are remembered.
const MAX_REMEMBERED: usize = 4096;

impl CredentialSource {
    /// Whether the caller's credential could be used when it was last read, and no refresh is due.
    fn was_usable(&self, caller: CallerKey) -> bool {
        self.usable.lock().get(&caller).is_some_and(|until| now() < *until)
    }

    /// Returns the value of a credential unless it has expired, and remembers whether it can be used.
    fn settle(&self, caller: CallerKey, credential: Option<StoredCredential>) -> Option<String> {
        let usable =
            credential.filter(|found| found.oauth.as_ref().is_none_or(|grant| !grant.has_expired(now())));
        let mut remembered = self.usable.lock();
        match &usable {
            None => _ = remembered.remove(&caller),
            Some(found) => {
                if remembered.len() >= MAX_REMEMBERED {
                    remembered.clear();
                }
                let until = found.oauth.as_ref().map_or(u64::MAX, OAuthGrant::usable_until);
                remembered.insert(caller, until);
            }
        }
        usable.map(|found| found.value)
    }

    /// Replaces the access token of a caller and returns the new one. `None` if the caller has to log in again.
    async fn refreshed(
        self: &Arc<Self>,
        caller: CallerKey,
        client: &OAuthClient,
    ) -> io::Result<Option<String>> {
        let turn = self.turn(caller);
        let _turn = turn.lock().await;
        // Another process may use the same folder; a refresh token is often valid once.
        let source = Arc::clone(self);
        let _file = spawn_blocking(move || source.vault.lock(&source.facade, caller))
            .await
            .map_err(io::Error::other)?
            .map_err(io::Error::other)?;
        // Another request, or process, may have replaced it meanwhile.
        let Some(credential) = self.read(caller).await? else { return Ok(self.settle(caller, None)) };
        let Some(grant) = credential.oauth.clone().filter(|grant| grant.is_due(now())) else {
            return Ok(self.settle(caller, Some(credential)));
        };
        match refresh(client, &grant).await {
            Ok((value, grant)) => {
                let renewed = StoredCredential { value, oauth: Some(grant), ..credential };
                self.write(caller, renewed.clone()).await?;
                // A token of a few seconds' life is sent once, though it counts as expired.
                Ok(self.settle(caller, Some(renewed.clone())).or(Some(renewed.value)))
            }
            Err(error) => {
                tracing::warn!(facade = self.facade, "an access token was not refreshed: {error}");
                let is_revoked = matches!(error, RefreshError::Revoked);
                if is_revoked {
                    // Not requested again for each call.
                    let ended = OAuthGrant { refresh: None, ..grant };
                    self.write(caller, StoredCredential { oauth: Some(ended), ..credential.clone() }).await?;
                }
                // Valid for a few more seconds, mostly.
                match self.settle(caller, Some(credential)) {
                    Some(value) => Ok(Some(value)),
                    None if is_revoked => Ok(None),
                    None => Err(io::Error::other(error)),
                }
            }
        }
    }

    /// Returns the lock of a caller's refreshes.
    fn turn(&self, caller: CallerKey) -> Arc<tokio::sync::Mutex<()>> {
        let mut refreshes = self.refreshes.lock();
        refreshes.retain(|_, turn| turn.strong_count() > 0);
        if let Some(turn) = refreshes.get(&caller).and_then(Weak::upgrade) {
            return turn;
        }
        let turn = Arc::default();
        refreshes.insert(caller, Arc::downgrade(&turn));
        turn
    }

    async fn read(self: &Arc<Self>, caller: CallerKey) -> io::Result<Option<StoredCredential>> {
        self.work(move |source| source.vault.read(&source.facade, caller)).await
    }

    async fn write(self: &Arc<Self>, caller: CallerKey, credential: StoredCredential) -> io::Result<()> {
        self.work(move |source| source.vault.write(&source.facade, caller, &credential)).await
    }

    /// Works on files on a thread that may block.
    async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, VaultError> + Send + 'static,
    ) -> io::Result<T> {
        let source = Arc::clone(self);
        spawn_blocking(move || work(&source)).await.map_err(io::Error::other)?.map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{key::VaultKey, record::CallerName};

    const ADA: CallerKey = CallerKey([1; 32]);

    /// Credentials of a facade, and how to store one that expires in some seconds.
    fn facade(state: &std::path::Path) -> (FacadeCredentials, impl Fn(Option<u64>)) {
        let vault = Arc::new(CredentialVault::new(state, VaultKey([1; 32])));
        let credentials = FacadeCredentials::new(Arc::clone(&vault), "shop", None);
        let store = move |lifetime: Option<u64>| {
            let oauth =
                lifetime.map(|lifetime| OAuthGrant { refresh: None, expires: Some(now() + lifetime) });
            let stored = StoredCredential::new(CallerName::Local, "value-of-ada").unwrap();
            vault.write("shop", ADA, &StoredCredential { oauth, ..stored }).unwrap();
        };
        (credentials, store)
    }

    #[tokio::test]
    async fn a_usable_credential_is_read_once() {
        let state = tempfile::tempdir().unwrap();
        let (credentials, store) = facade(state.path());
        assert!(!credentials.is_stored(ADA) && !credentials.has_credential(ADA).await.unwrap());
        store(None);
        assert!(credentials.is_stored(ADA) && credentials.has_credential(ADA).await.unwrap());
        // Without the file: what was found before counts until a request reads it again.
        std::fs::remove_dir_all(state.path().join("credentials")).unwrap();
        assert!(credentials.has_credential(ADA).await.unwrap());
        assert_eq!(credentials.credential(ADA).await.unwrap(), None);
        assert!(!credentials.has_credential(ADA).await.unwrap());
    }

    #[tokio::test]
    async fn an_expired_credential_is_not_usable() {
        let state = tempfile::tempdir().unwrap();
        let (credentials, store) = facade(state.path());
        store(Some(0));
        assert!(!credentials.is_stored(ADA) && !credentials.has_credential(ADA).await.unwrap());
        store(Some(3600));
        assert!(credentials.is_stored(ADA) && credentials.has_credential(ADA).await.unwrap());
    }
}
