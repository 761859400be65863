//! The tokens of the settings file, read again when it changes: one that was lost is revoked at once, while others work on.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::time::{MissedTickBehavior, interval};

use super::{AuthError, Authenticator, file::Watched, settings};
use crate::config::server::{Auth, Settings, Token};

/// How often is looked whether the file changed, which costs next to nothing.
const LOOK: Duration = Duration::from_secs(1);

/// Reads a settings file, or says what is wrong with it.
pub type Read = fn(&Path) -> anyhow::Result<Settings>;

/// What of a file is in force.
struct InForce {
    tokens: Vec<Token>,
    /// All of it, as it was first found.
    settings: Option<Settings>,
}

impl Authenticator {
    /// Takes the tokens of a settings file whenever it changes, for as long as this is polled. Now these `tokens` are taken.
    pub async fn follow(&self, file: PathBuf, tokens: Vec<Token>, read: Read) {
        let mut file = Watched::new(file);
        let mut now = InForce { tokens, settings: None };
        let mut said = None;
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let looking = tokio::task::spawn_blocking(move || {
                let found =
                    file.look(|path| read(path).map_err(|error| io::Error::other(format!("{error:#}"))));
                (file, found)
            });
            // The runtime ends.
            let Ok((looked, found)) = looking.await else { return };
            file = looked;
            let taken = match found {
                Ok(None) => Ok(()),
                Ok(Some(found)) => {
                    let taken = self.take(&mut now, found, file.path());
                    taken.map_err(|error| format!("{}: {error}", file.path().display()))
                }
                Err(error) => Err(error.to_string()),
            };
            let failed = taken.err();
            if let Some(why) = failed.as_ref().filter(|_| said != failed) {
                tracing::warn!("{why}; the tokens that were read before are taken");
            }
            said = failed;
        }
    }

    fn take(&self, now: &mut InForce, found: Settings, file: &Path) -> Result<(), AuthError> {
        let file = file.display();
        let tokens = settings::check(&found.auth, Path::new(""))?.tokens;
        let first = now.settings.get_or_insert_with(|| found.clone());
        let other = Auth { tokens: first.auth.tokens.clone(), ..found.auth.clone() };
        if (Settings { auth: other, ..found.clone() }) != *first {
            tracing::warn!("{file} has changed: all but its tokens is heeded when the server starts again");
        }
        if found.auth.tokens != now.tokens {
            self.0.tokens.store(Arc::new(tokens));
            let (came, went) =
                (names(&found.auth.tokens, &now.tokens), names(&now.tokens, &found.auth.tokens));
            tracing::info!(came, went, "the tokens of {file} are now others");
            now.tokens = found.auth.tokens;
        }
        Ok(())
    }
}

/// The names of tokens that are not among the others.
fn names(tokens: &[Token], others: &[Token]) -> String {
    let new = tokens.iter().filter(|token| !others.contains(token));
    new.map(|token| token.name.as_str()).collect::<Vec<_>>().join(", ")
}
