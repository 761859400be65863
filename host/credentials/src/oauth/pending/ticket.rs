//! One pending login, as its caller sees it.

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use url::Url;

/// How far a login is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginProgress {
    /// The person has not completed it at the authorization server.
    Open,
    /// The server issued a token, which is kept until the caller sends the code.
    Held,
    /// The credential is stored.
    Done,
    /// It failed, with this reason.
    Failed(String),
}

/// Follows one pending login. Whoever has its link can end it, so it has no `Debug` output.
#[derive(Clone)]
pub struct LoginTicket {
    /// Link that a person has to open.
    pub link: Url,
    pub(super) expires: Instant,
    pub(super) progress: watch::Receiver<LoginProgress>,
}

impl LoginTicket {
    /// Returns how far the login is.
    pub fn progress(&self) -> LoginProgress {
        self.progress.borrow().clone()
    }

    /// Waits until the login is no longer at this step.
    pub async fn wait_beyond(&self, step: &LoginProgress) -> LoginProgress {
        let expired = || LoginProgress::Failed("it was not completed in time".to_owned());
        let mut progress = self.progress.clone();
        tokio::select! {
            biased;
            // The table drops the sender of a login that it removes.
            changed = progress.wait_for(|now| now != step) => changed.map_or_else(|_| expired(), |now| now.clone()),
            () = sleep_until(self.expires) => expired(),
        }
    }
}
