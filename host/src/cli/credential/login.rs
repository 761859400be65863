//! `loggia credential login`.

use std::{
    io::{IsTerminal, stdin},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, bail};
use loggia_credentials::oauth::{IssuedToken, LoginAttempt, OAuthClient, RedirectAnswer};
use loggia_login::{caller_vault::CallerVault, loopback};
use tokio::io::{AsyncBufReadExt, BufReader};
use url::Url;

use super::caller::CallerOption;
use crate::cli::{common::io_runtime, term};

/// Time for a person to log in.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// Log in to the server that `[login.NAME]` names, and store the credential that it issues.
///
/// Prints a link for a browser, to which the server returns at a port of this machine. If the browser runs elsewhere, paste
/// the address that it shows in the end.
#[derive(clap::Args)]
pub struct LoginCommand {
    /// Facade that uses the credential
    pub name: String,
    #[command(flatten)]
    caller: CallerOption,
    /// Port of this machine for the answer, if the server knows only one redirect URL: http://127.0.0.1:PORT/callback
    /// [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

impl LoginCommand {
    pub fn run(self, vault: &CallerVault, client: Option<&OAuthClient>) -> anyhow::Result<ExitCode> {
        let (name, caller) = (self.name, self.caller.name());
        let Some(client) = client else {
            bail!(
                "the settings have no `[login.{name}]`, which names the authorization server (--config FILE)"
            );
        };
        let IssuedToken { value, grant } = io_runtime()?.block_on(async {
            let (listener, redirect) = loopback::open(self.port).await.with_context(|| {
                format!("failed to listen on port {}: choose another one with --port", self.port)
            })?;
            let attempt = LoginAttempt::begin(client, redirect);
            term::note(&format!("open this link to log in as {caller}:\n\n{}\n", attempt.link));
            let is_own = |answer: &RedirectAnswer| attempt.is_answered_by(answer);
            let answer = tokio::select! {
                answer = loopback::receive(listener, |answer| is_own(&answer).then_some(answer)) => answer?,
                answer = pasted(is_own) => answer,
                () = tokio::time::sleep(PATIENCE) => bail!("the login was not completed within ten minutes; nothing was stored"),
            };
            attempt.finish(answer).await.context("the login failed, and nothing was stored")
        })?;
        let has_refresh = grant.refresh.is_some();
        vault.store_login(&name, caller.clone(), &value, grant)?;
        let until =
            if has_refresh { "" } else { "; it cannot be refreshed, so log in again when it has expired" };
        term::note(&format!("stored the credential of {caller} for `{name}`{until}"));
        Ok(ExitCode::SUCCESS)
    }
}

/// Reads the address that a browser shows from a terminal. Ends with the answer of this login only.
async fn pasted(is_own: impl Fn(&RedirectAnswer) -> bool) -> RedirectAnswer {
    if stdin().is_terminal() {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let query = Url::parse(line.trim()).ok().and_then(|url| url.query().map(str::to_owned));
            match query.and_then(|query| RedirectAnswer::parse(&query)).filter(|answer| is_own(answer)) {
                Some(answer) => return answer,
                None => term::note("this is not the address that ends the login"),
            }
        }
    }
    std::future::pending().await
}
