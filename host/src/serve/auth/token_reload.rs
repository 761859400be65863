//! The tokens of the settings file, read again when it changes: one that was lost is revoked while others work on.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use loggia_gate::call::TARGET as AUDIT;
use tokio::time::{MissedTickBehavior, interval};

use super::{AuthError, authenticator::Authenticator, file::WatchedFile, settings};
use crate::config::server::{Auth, Settings, Token};

/// How often is looked whether the file changed, which costs next to nothing.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long it takes to write a file.
const SETTLE_TIME: Duration = Duration::from_millis(200);

/// What is true while a file cannot be read.
const KEEPS_OLD_TOKENS: &str = "the tokens that were read before are taken";
/// What is true where the server began without `[auth]`.
const AUTH_NEEDS_RESTART: &str =
    "`auth` is heeded when the server starts again; until then everybody may call who can connect";

/// What is true once the last token was taken away.
const NO_TOKENS_LEFT: &str = "the settings file has no token any more: nobody may call; with these settings the server does not \
                      start again, unless `http.allow-anonymous` is true";

/// Reads a settings file, or says what is wrong with it.
pub type SettingsReader = fn(&Path) -> anyhow::Result<Settings>;

/// A settings file that a server runs by.
pub struct TokenReloader {
    /// Where it is.
    pub path: PathBuf,
    /// What it said when the server began.
    pub settings: Settings,
    /// Reads it again.
    pub read: SettingsReader,
}

impl TokenReloader {
    /// Lets its tokens be taken whenever it changes, for as long as this is polled. Where callers need not say who they are,
    /// that does not change before the next start.
    pub async fn run(self, authenticator: Option<Authenticator>) {
        let Self { path, settings, read } = self;
        if !path.is_file() {
            return tracing::warn!("{} is no file: its tokens are read at the start alone", path.display());
        }
        let mut tokens = settings.auth().tokens.clone();
        let mut file = WatchedFile::new(path.clone(), SETTLE_TIME);
        let mut said = None;
        let mut looks = interval(POLL_INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let looking = tokio::task::spawn_blocking(move || {
                // One with mistakes was read, too: it is not read again before it is another.
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
                // The runtime ends.
                Err(_) => return,
            };
            let (at, now) = (path.display(), &mut tokens);
            let failed = match (found, &authenticator) {
                (Ok(None), _) => continue,
                (Ok(Some(found)), Some(authenticator)) => {
                    warn_other_changes(&settings, &found, &path);
                    let taken = authenticator.replace_tokens(now, found.auth.unwrap_or_default());
                    taken.err().map(|error| format!("{at}: `auth`: {error}; {KEEPS_OLD_TOKENS}"))
                }
                (Ok(Some(found)), None) => {
                    warn_other_changes(&settings, &found, &path);
                    (!found.auth().is_none()).then(|| format!("{at}: {AUTH_NEEDS_RESTART}"))
                }
                (Err(error), Some(_)) => Some(format!("{error}; {KEEPS_OLD_TOKENS}")),
                (Err(error), None) => Some(error),
            };
            if let Some(why) = failed.as_ref().filter(|_| said != failed) {
                tracing::warn!("{why}");
            }
            said = failed;
        }
    }
}

impl Authenticator {
    /// Takes other tokens than `now`.
    fn replace_tokens(&self, now: &mut Vec<Token>, found: Auth) -> Result<(), AuthError> {
        let mut tokens = settings::validate(&found, Path::new(""))?.tokens;
        if found.tokens != *now {
            tokens.keep_unchanged(&self.0.tokens.load());
            let tokens = Arc::new(tokens);
            // First: a request in between would be let in by what is revoked.
            self.0.tokens.swap(Arc::clone(&tokens)).revoke_missing_from(&tokens);
            let (came, went) =
                (names_missing_from(&found.tokens, now), names_missing_from(now, &found.tokens));
            tracing::info!(came, went, "the settings file has other tokens now");
            tracing::debug!(target: AUDIT, event = "tokens", came, went, "the settings file has other tokens now");
            if found.tokens.is_empty() && self.0.oauth.is_none() {
                tracing::warn!("{NO_TOKENS_LEFT}");
            }
            *now = found.tokens;
        }
        Ok(())
    }
}

/// Says that what is no token counts later.
fn warn_other_changes(began: &Settings, found: &Settings, file: &Path) {
    let others = |settings: &Settings| Auth { tokens: Vec::new(), ..settings.auth().clone() };
    let same = others(began) == others(found);
    if !same || (Settings { auth: began.auth.clone(), ..found.clone() }) != *began {
        let file = file.display();
        tracing::warn!("{file} has changed: all but its tokens is heeded when the server starts again");
    }
}

/// The names of tokens that are not among the others.
fn names_missing_from(tokens: &[Token], others: &[Token]) -> String {
    let new = tokens.iter().filter(|token| !others.contains(token));
    new.map(|token| token.name.as_str()).collect::<Vec<_>>().join(", ")
}
