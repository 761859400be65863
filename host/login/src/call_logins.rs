//! Pending logins of all facades, and how they end.

use std::sync::{Arc, OnceLock};

use futures_util::future::{BoxFuture, FutureExt};
use loggia_credentials::{
    CallerName,
    oauth::{
        AnsweredLogin, CodeRefusal, IssuedToken, LoginAttempt, LoginProgress, LoginTicket, OAuthClient,
        PendingLogins, RedirectAnswer,
    },
};
use loggia_egress::CallerKey;
use loggia_facade::{Failure, code};
use loggia_gate::{access::LoginRefusal, call::TARGET as AUDIT};
use loggia_server::http::{BrowserReturns, ReturnPage};
use tokio::net::TcpListener;

use super::{loopback, pages::LoginPage, return_place::ReturnPlace};
use crate::caller_vault::CallerVault;

/// Logins that begin with a call. Before [`return_to`](Self::return_to), there are none: a command that makes one call does not
/// wait for a browser.
#[derive(Default)]
pub struct CallLogins {
    pub(super) pending: PendingLogins<LoginOwner>,
    place: OnceLock<ReturnPlace>,
}

/// Owner of a login.
#[derive(Clone)]
pub(super) struct LoginOwner {
    pub facade: String,
    pub caller: CallerName,
    pub vault: CallerVault,
}

impl CallLogins {
    /// Lets logins begin, whose browsers return to this place. Called once, before facades are loaded.
    pub fn return_to(&self, place: ReturnPlace) {
        // A second call would change nothing.
        let _ = self.place.set(place);
    }

    pub(super) fn place(&self) -> Option<&ReturnPlace> {
        self.place.get()
    }

    /// Whether callers have to send a code. The local user does not: one caller exists, and its browser is on this machine.
    pub(super) fn needs_code(&self) -> bool {
        matches!(self.place(), Some(ReturnPlace::Listener(_)))
    }

    /// Returns the pending login of a caller, or begins one.
    ///
    /// # Errors
    ///
    /// If too many are pending, or no port is free.
    pub(super) async fn begin(
        self: &Arc<Self>,
        key: CallerKey,
        owner: LoginOwner,
        client: &OAuthClient,
    ) -> Result<LoginTicket, Failure> {
        if let Some(ticket) = self.pending.find(key) {
            return Ok(ticket);
        }
        if let Some(begun) = self.begin_at_listener(key, &owner, client) {
            return begun;
        }
        let (listener, url) = loopback::open(0).await.map_err(|error| {
            unavailable(format!("no port of this machine can be opened for a login: {error}"))
        })?;
        let begun = self.pending.begin(key, owner, LoginAttempt::begin(client, url));
        let (ticket, is_new) = begun.map_err(|error| unavailable(error.to_string()))?;
        if is_new {
            tokio::spawn(Arc::clone(self).wait_at(listener, ticket.clone()));
        }
        Ok(ticket)
    }

    /// Returns the pending login of a caller, or begins one whose browser returns to the HTTP server. `None` if browsers return
    /// elsewhere.
    pub(super) fn begin_at_listener(
        &self,
        key: CallerKey,
        owner: &LoginOwner,
        client: &OAuthClient,
    ) -> Option<Result<LoginTicket, Failure>> {
        let Some(ReturnPlace::Listener(url)) = self.place() else { return None };
        let begun = self.pending.begin(key, owner.clone(), LoginAttempt::begin(client, url.clone()));
        Some(begun.map(|(ticket, _)| ticket).map_err(|error| unavailable(error.to_string())))
    }

    /// Waits at a port of this machine for the browser, until the login has ended.
    async fn wait_at(self: Arc<Self>, listener: TcpListener, ticket: LoginTicket) {
        let accept = |answer| self.pending.take_answered(&answer).map(|login| (login, answer));
        tokio::select! {
            received = loopback::receive(listener, accept) => match received {
                Ok((login, answer)) => _ = self.finish(login, answer).await,
                Err(error) => tracing::warn!("a login cannot be completed: {error}"),
            },
            _ = ticket.wait_beyond(&LoginProgress::Open) => {}
        }
    }

    /// Finishes a login with the answer of a browser. Stores the credential, or keeps the token until the caller sends the code.
    async fn finish(&self, login: AnsweredLogin<LoginOwner>, answer: RedirectAnswer) -> LoginPage {
        let AnsweredLogin { caller: key, owner, attempt } = login;
        let facade = owner.facade.clone();
        let token = match attempt.finish(answer).await {
            Ok(token) => token,
            Err(error) => return self.fail(key, facade, error.to_string()),
        };
        if self.needs_code() {
            let caller = owner.caller.to_string();
            return match self.pending.hold(key, token) {
                Ok(code) => LoginPage::Code { facade, caller, code: code.to_string() },
                Err(reason) => self.fail(key, facade, reason.to_owned()),
            };
        }
        match self.store(key, owner, token).await {
            Ok(()) => LoginPage::Done { facade },
            Err(reason) => LoginPage::Failed { facade, reason },
        }
    }

    fn fail(&self, key: CallerKey, facade: String, reason: String) -> LoginPage {
        tracing::warn!(facade, "a login failed: {}", loggia_text::printable(&reason));
        self.pending.end(key, Err(reason.clone()));
        LoginPage::Failed { facade, reason }
    }

    /// Completes a login by its code.
    pub(super) async fn redeem(
        &self,
        key: CallerKey,
        owner: LoginOwner,
        typed: &str,
    ) -> Result<(), LoginRefusal> {
        let token = self.pending.redeem(key, typed).map_err(|refusal| match refusal {
            CodeRefusal::Unasked => LoginRefusal::Unasked,
            CodeRefusal::Wrong(left) => LoginRefusal::Wrong(left),
            CodeRefusal::Ended => LoginRefusal::Ended(refusal.to_string()),
        })?;
        self.store(key, owner, token).await.map_err(LoginRefusal::Ended)
    }

    /// Stores the token of a login, which ends it.
    async fn store(&self, key: CallerKey, owner: LoginOwner, token: IssuedToken) -> Result<(), String> {
        let LoginOwner { facade, caller, vault } = owner;
        let stored = tokio::task::spawn_blocking(move || {
            vault.store_login(&facade, caller.clone(), &token.value, token.grant).map(|()| (facade, caller))
        });
        let outcome = match stored.await {
            Ok(Ok((facade, caller))) => {
                tracing::debug!(target: AUDIT, event = "credential_stored", facade, owner = %caller, how = "login", "a caller logged in");
                Ok(())
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let outcome = outcome.map_err(|error| {
            tracing::error!("the credential of a login cannot be stored: {error}");
            // The path is for the log.
            "the credential cannot be stored; the server's log has the reason".to_owned()
        });
        self.pending.end(key, outcome.clone());
        outcome
    }
}

/// Answers browsers at the HTTP server.
pub struct LoginReturns(pub Arc<CallLogins>);

impl BrowserReturns for LoginReturns {
    fn answer(&self, query: String) -> BoxFuture<'static, ReturnPage> {
        let logins = Arc::clone(&self.0);
        async move {
            let answer = RedirectAnswer::parse(&query);
            let taken = answer.and_then(|answer| Some((logins.pending.take_answered(&answer)?, answer)));
            let page = match taken {
                // A browser that leaves must not interrupt the exchange.
                Some((login, answer)) => tokio::spawn(async move { logins.finish(login, answer).await })
                    .await
                    .unwrap_or(LoginPage::Unknown),
                None => LoginPage::Unknown,
            };
            ReturnPage { is_known: page.is_known(), html: page.render() }
        }
        .boxed()
    }
}

fn unavailable(reason: String) -> Failure {
    Failure::new(code::UNAVAILABLE, format!("unavailable: {reason}")).hint("try again later")
}
