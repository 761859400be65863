//! The credentials of one facade, for its requests.

use std::{io, sync::Arc};

use loggia_egress::{CallerCredentials, CallerKey, IoFuture};

use crate::vault::CredentialVault;

/// Reads the credentials of one facade's callers for each request, so that a change counts at once.
#[derive(Debug, Clone)]
pub struct FacadeCredentials {
    vault: Arc<CredentialVault>,
    facade: Arc<str>,
}

impl FacadeCredentials {
    /// Uses the credentials of a facade of this name.
    pub fn new(vault: Arc<CredentialVault>, facade: &str) -> Self {
        Self { vault, facade: facade.into() }
    }
}

impl CallerCredentials for FacadeCredentials {
    fn credential(&self, caller: CallerKey) -> IoFuture<Option<String>> {
        let Self { vault, facade } = self.clone();
        Box::pin(async move {
            let read = tokio::task::spawn_blocking(move || vault.read(&facade, caller)).await;
            let credential = read.map_err(io::Error::other)?.map_err(io::Error::other)?;
            Ok(credential.map(|credential| credential.value))
        })
    }
}
