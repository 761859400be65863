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
}

impl FacadeCredentials {
    /// Uses the credentials of a facade of this name. Access tokens are refreshed by `oauth`.
    pub fn new(vault: Arc<CredentialVault>, facade: &str, oauth: Option<OAuthClient>) -> Self {
        let facade = facade.to_owned();
        Self(Arc::new(CredentialSource { vault, facade, oauth, refreshes: Mutex::default() }))
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
                (credential, _) => Ok(credential.and_then(usable)),
            }
        })
    }
}

/// Returns the value of a credential unless it has expired.
fn usable(credential: StoredCredential) -> Option<String> {
    let has_expired = credential.oauth.is_some_and(|grant| grant.has_expired(now()));
    (!has_expired).then_some(credential.value)
}

impl CredentialSource {
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
        let Some(credential) = self.read(caller).await? else { return Ok(None) };
        let Some(grant) = credential.oauth.clone().filter(|grant| grant.is_due(now())) else {
            return Ok(usable(credential));
        };
        match refresh(client, &grant).await {
            Ok((value, grant)) => {
                let renewed = StoredCredential { value: value.clone(), oauth: Some(grant), ..credential };
                self.write(caller, renewed).await?;
                Ok(Some(value))
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
                match usable(credential) {
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
