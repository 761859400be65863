//! Reloads the tokens of the settings file when it changes, so that a leaked token is revoked without a restart.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use loggia_gate::call::TARGET as AUDIT;
use loggia_policy::settings::{Auth, Settings, Token};
use tokio::time::{MissedTickBehavior, interval};

use super::{authenticator::Authenticator, file::WatchedFile, settings};

/// Interval of checking the file for changes, which is cheap.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum age of a version of the file.
const SETTLE_TIME: Duration = Duration::from_millis(200);

/// Consequence of an unreadable file.
const KEEPS_OLD_TOKENS: &str = "the previous tokens stay valid";
/// Consequence of `[auth]` in a server that was started without it.
const AUTH_NEEDS_RESTART: &str =
    "`auth` takes effect at the next start; until then, access is unauthenticated";

/// Consequence of revoking the last token.
const NO_TOKENS_LEFT: &str = "the settings file has no tokens any more: all callers are refused, and the server will not start again with \
                      these settings unless `http.allow-anonymous` is true";

/// Reads and validates a settings file.
pub type SettingsLoader = fn(&Path) -> anyhow::Result<Settings>;

/// Reloads the tokens of a settings file.
pub struct TokenReloader {
    /// Path of the file.
    pub path: PathBuf,
    /// Settings with which the server was started.
    pub settings: Settings,
    /// Reads the file.
    pub read: SettingsLoader,
}

impl TokenReloader {
    /// Replaces the tokens whenever the file changes, as long as this is polled. A server that was started without
    /// authentication stays unauthenticated until the next start.
    pub async fn run(self, authenticator: Option<Authenticator>) {
        let Self { path, settings, read } = self;
        if !path.is_file() {
            return tracing::warn!(
                "{} is not a regular file: its tokens are only read at startup",
                path.display()
            );
        }
        let mut tokens = settings.auth().tokens.clone();
        let mut file = WatchedFile::new(path.clone(), SETTLE_TIME);
        let mut logged = None;
        let mut looks = interval(POLL_INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let looking = tokio::task::spawn_blocking(move || {
                // A file with mistakes counts as read, so that they are reported once.
                let found = file.read_if_changed(|path| Ok::<_, io::Error>(read(path)));
                (file, found)
            });
            let found = match looking.await {
                Ok((looked, found)) => {
                    file = looked;
                    let found = found.map(Option::transpose);
                    found
                        .map_err(|error| format!("{}: {error}", path.display()))
                        .and_then(|read| read.map_err(|error| format!("{error:#}")))
                }
                Err(error) if error.is_panic() => {
                    file = WatchedFile::new(path.clone(), SETTLE_TIME);
                    Err("failed to read the settings".to_owned())
                }
                // The runtime shuts down.
                Err(_) => return,
            };
            let (at, now) = (path.display(), &mut tokens);
            let failed = match (found, &authenticator) {
                (Ok(None), _) => continue,
                (Ok(Some(found)), Some(authenticator)) => {
                    warn_other_changes(&settings, &found, &path);
                    authenticator.replace_tokens(now, found.auth.unwrap_or_default());
                    None
                }
                (Ok(Some(found)), None) => {
                    warn_other_changes(&settings, &found, &path);
                    (!found.auth().is_none()).then(|| format!("{at}: {AUTH_NEEDS_RESTART}"))
                }
                (Err(error), Some(_)) => Some(format!("{error}; {KEEPS_OLD_TOKENS}")),
                (Err(error), None) => Some(error),
            };
            if let Some(why) = failed.as_ref().filter(|_| logged != failed) {
                tracing::warn!("{why}");
            }
            logged = failed;
        }
    }
}

impl Authenticator {
    /// Replaces the current tokens, and revokes those that were removed.
    fn replace_tokens(&self, now: &mut Vec<Token>, found: Auth) {
        let mut tokens = settings::tokens(&found);
        if found.tokens != *now {
            tokens.keep_unchanged(&self.0.tokens.load());
            let tokens = Arc::new(tokens);
            // Swap first: a request in between would be admitted by a revoked token.
            self.0.tokens.swap(Arc::clone(&tokens)).revoke_missing_from(&tokens);
            let (added, removed) =
                (names_missing_from(&found.tokens, now), names_missing_from(now, &found.tokens));
            tracing::info!(came = added, went = removed, "reloaded the tokens of the settings file");
            tracing::debug!(target: AUDIT, event = "tokens", came = added, went = removed, "reloaded the tokens of the settings file");
            if found.tokens.is_empty() && self.0.oauth.is_none() {
                tracing::warn!("{NO_TOKENS_LEFT}");
            }
            *now = found.tokens;
        }
    }
}

/// Warns that other changes take effect at the next start.
fn warn_other_changes(began: &Settings, found: &Settings, file: &Path) {
    let others = |settings: &Settings| Auth { tokens: Vec::new(), ..settings.auth().clone() };
    let same = others(began) == others(found);
    if !same || (Settings { auth: began.auth.clone(), ..found.clone() }) != *began {
        let file = file.display();
        tracing::warn!("{file} has changed: all but its tokens takes effect at the next start");
        tracing::debug!(target: AUDIT, event = "settings", settings = %file, outcome = "changed", "{file} has changed");
    }
}

/// Returns the names of tokens that are not among the others.
fn names_missing_from(tokens: &[Token], others: &[Token]) -> String {
    let new = tokens.iter().filter(|token| !others.contains(token));
    new.map(|token| token.name.as_str()).collect::<Vec<_>>().join(", ")
}
