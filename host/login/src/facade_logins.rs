//! The logins of one facade, as calls see them.

use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt};
use loggia_credentials::{
    CallerName, FacadeCredentials,
    oauth::{LoginProgress, LoginTicket, OAuthClient},
};
use loggia_egress::CallerKey;
use loggia_facade::{Failure, ScopeKey};
use loggia_gate::access::{Caller, CallerLogins, LoginPreview, LoginRefusal, LoginStep, PendingLogin};

use super::call_logins::{CallLogins, LoginOwner};
use crate::caller_vault::CallerVault;

/// Logins of the callers of one facade.
pub struct FacadeLogins {
    /// Pending logins of all facades.
    pub logins: Arc<CallLogins>,
    /// Name of the facade.
    pub facade: String,
    /// Client of the authorization server.
    pub client: OAuthClient,
    /// Credentials of the facade's callers.
    pub credentials: Arc<FacadeCredentials>,
    /// Where new ones are stored.
    pub vault: CallerVault,
}

impl FacadeLogins {
    /// Whether calls may carry the code of a login.
    pub fn take_codes(&self) -> bool {
        self.logins.needs_code()
    }

    /// Returns the owner of a caller's logins. `None` if there are no logins, or for unauthenticated callers, to whom nothing
    /// can belong.
    fn owner(&self, caller: &Caller) -> Option<LoginOwner> {
        self.logins.place()?;
        let caller = match caller {
            Caller::Local => CallerName::Local,
            Caller::Named(name) => CallerName::Named(name.to_string()),
            Caller::Anonymous => return None,
        };
        Some(LoginOwner { facade: self.facade.clone(), caller, vault: self.vault.clone() })
    }
}

impl CallerLogins for FacadeLogins {
    fn require(
        &self,
        caller: &Caller,
        key: &ScopeKey,
    ) -> BoxFuture<'static, Result<Option<Box<dyn PendingLogin>>, Failure>> {
        let Some(owner) = self.owner(caller) else { return async { Ok(None) }.boxed() };
        let (key, credentials) = (CallerKey(key.0), Arc::clone(&self.credentials));
        let (logins, client) = (Arc::clone(&self.logins), self.client.clone());
        async move {
            // One that cannot be read is reported by the request that needs it.
            if credentials.has_credential(key).await.unwrap_or(true) {
                return Ok(None);
            }
            let ticket = logins.begin(key, owner, &client).await?;
            let pending = PendingTicket { ticket, needs_code: logins.needs_code() };
            Ok(Some(Box::new(pending) as Box<dyn PendingLogin>))
        }
        .boxed()
    }

    fn preview(&self, caller: &Caller, key: &ScopeKey) -> Option<LoginPreview> {
        let (owner, key) = (self.owner(caller)?, CallerKey(key.0));
        if self.credentials.is_stored(key) {
            return None;
        }
        let ticket = self.logins.pending.find(key).map(Ok);
        let ticket = ticket.or_else(|| self.logins.begin_at_listener(key, &owner, &self.client));
        Some(match ticket {
            Some(Ok(ticket)) if ticket.progress() == LoginProgress::Held => LoginPreview::Code,
            Some(Ok(ticket)) => {
                LoginPreview::Link { link: ticket.link.into(), needs_code: self.logins.needs_code() }
            }
            Some(Err(_)) | None => LoginPreview::Later,
        })
    }

    fn redeem(
        &self,
        caller: &Caller,
        key: &ScopeKey,
        code: &str,
    ) -> BoxFuture<'static, Result<(), LoginRefusal>> {
        let Some(owner) = self.owner(caller) else { return async { Err(LoginRefusal::Unasked) }.boxed() };
        let (logins, key, code) = (Arc::clone(&self.logins), CallerKey(key.0), code.to_owned());
        async move { logins.redeem(key, owner, &code).await }.boxed()
    }
}

/// A pending login of a caller.
struct PendingTicket {
    ticket: LoginTicket,
    needs_code: bool,
}

impl PendingLogin for PendingTicket {
    fn link(&self) -> &str {
        self.ticket.link.as_str()
    }

    fn needs_code(&self) -> bool {
        self.needs_code
    }

    fn step(&self) -> LoginStep {
        to_step(self.ticket.progress())
    }

    fn wait_beyond<'a>(&'a self, step: &'a LoginStep) -> BoxFuture<'a, LoginStep> {
        let progress = match step {
            LoginStep::Open => LoginProgress::Open,
            LoginStep::NeedsCode => LoginProgress::Held,
            LoginStep::Done => LoginProgress::Done,
            LoginStep::Failed(reason) => LoginProgress::Failed(reason.clone()),
        };
        async move { to_step(self.ticket.wait_beyond(&progress).await) }.boxed()
    }
}

fn to_step(progress: LoginProgress) -> LoginStep {
    match progress {
        LoginProgress::Open => LoginStep::Open,
        LoginProgress::Held => LoginStep::NeedsCode,
        LoginProgress::Done => LoginStep::Done,
        LoginProgress::Failed(reason) => LoginStep::Failed(reason),
    }
}
