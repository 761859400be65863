//! The tokens of the settings file, read again when it changes: one that was lost is revoked while others work on.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use loggia_gate::call::TARGET as AUDIT;
use tokio::time::{MissedTickBehavior, interval};

use super::{AuthError, authenticator::Authenticator, file::Watched, settings};
use crate::config::server::{Auth, Settings, Token};

/// How often is looked whether the file changed, which costs next to nothing.
const LOOK: Duration = Duration::from_secs(1);
/// How long it takes to write a file.
const WRITTEN: Duration = Duration::from_millis(200);

/// What is true while a file cannot be read.
const KEPT: &str = "the tokens that were read before are taken";
/// What is true where the server began without `[auth]`.
const LATER: &str =
    "`auth` is heeded when the server starts again; until then everybody may call who can connect";

/// What is true once the last token was taken away.
const NOBODY: &str = "the settings file has no token any more: nobody may call; with these settings the server does not \
                      start again, unless `http.allow-anonymous` is true";

/// Reads a settings file, or says what is wrong with it.
pub type Read = fn(&Path) -> anyhow::Result<Settings>;

/// A settings file that a server runs by.
pub struct Followed {
    /// Where it is.
    pub path: PathBuf,
    /// What it said when the server began.
    pub settings: Settings,
    /// Reads it again.
    pub read: Read,
}

impl Followed {
    /// Lets its tokens be taken whenever it changes, for as long as this is polled. Where callers need not say who they are,
    /// that does not change before the next start.
    pub async fn follow(self, authenticator: Option<Authenticator>) {
        let Self { path, settings, read } = self;
        if !path.is_file() {
            return tracing::warn!("{} is no file: its tokens are read at the start alone", path.display());
        }
        let mut tokens = settings.auth().tokens.clone();
        let mut file = Watched::new(path.clone(), WRITTEN);
        let mut said = None;
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let looking = tokio::task::spawn_blocking(move || {
                // One with mistakes was read, too: it is not read again before it is another.
                let found = file.look(|path| Ok::<_, io::Error>(read(path)));
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
                    file = Watched::new(path.clone(), WRITTEN);
                    Err("failed to read the settings".to_owned())
                }
                // The runtime ends.
                Err(_) => return,
            };
            let (at, now) = (path.display(), &mut tokens);
            let failed = match (found, &authenticator) {
                (Ok(None), _) => continue,
                (Ok(Some(found)), Some(authenticator)) => {
                    tell_others(&settings, &found, &path);
                    let taken = authenticator.take(now, found.auth.unwrap_or_default());
                    taken.err().map(|error| format!("{at}: `auth`: {error}; {KEPT}"))
                }
                (Ok(Some(found)), None) => {
                    tell_others(&settings, &found, &path);
                    (!found.auth().is_none()).then(|| format!("{at}: {LATER}"))
                }
                (Err(error), Some(_)) => Some(format!("{error}; {KEPT}")),
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
    fn take(&self, now: &mut Vec<Token>, found: Auth) -> Result<(), AuthError> {
        let mut tokens = settings::check(&found, Path::new(""))?.tokens;
        if found.tokens != *now {
            tokens.keep(&self.0.tokens.load());
            let tokens = Arc::new(tokens);
            // First: a request in between would be let in by what is revoked.
            self.0.tokens.swap(Arc::clone(&tokens)).revoke(&tokens);
            let (came, went) = (names(&found.tokens, now), names(now, &found.tokens));
            tracing::info!(came, went, "the settings file has other tokens now");
            tracing::debug!(target: AUDIT, event = "tokens", came, went, "the settings file has other tokens now");
            if found.tokens.is_empty() && self.0.oauth.is_none() {
                tracing::warn!("{NOBODY}");
            }
            *now = found.tokens;
        }
        Ok(())
    }
}

/// Says that what is no token counts later.
fn tell_others(began: &Settings, found: &Settings, file: &Path) {
    let others = |settings: &Settings| Auth { tokens: Vec::new(), ..settings.auth().clone() };
    let same = others(began) == others(found);
    if !same || (Settings { auth: began.auth.clone(), ..found.clone() }) != *began {
        let file = file.display();
        tracing::warn!("{file} has changed: all but its tokens is heeded when the server starts again");
    }
}

/// The names of tokens that are not among the others.
fn names(tokens: &[Token], others: &[Token]) -> String {
    let new = tokens.iter().filter(|token| !others.contains(token));
    new.map(|token| token.name.as_str()).collect::<Vec<_>>().join(", ")
}
