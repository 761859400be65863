//! Follows the record of revoked tokens.

use std::{sync::Arc, time::Duration};

use loggia_gate::call::TARGET as AUDIT;
use loggia_load::PluginAdmitter;
use loggia_server::auth::Authenticator;
use loggia_state::StateError;
use tokio::{
    task::spawn_blocking,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use crate::revocation_record::{RevocationRecord, TokenRevocation, to_revoked};

/// Period in which the record is looked at, which is cheap.
const LOOK_PERIOD: Duration = Duration::from_secs(1);

/// Follows the record of revoked tokens for the authenticator of this host.
pub struct RevocationFollower {
    admitter: Arc<PluginAdmitter>,
    authenticator: Authenticator,
    /// Revision of the record that applies.
    revision: Option<u64>,
    /// Why the record could not be read, if it is logged already.
    reported: Option<String>,
}

impl RevocationFollower {
    /// Follows for this authenticator. Nothing is read yet.
    pub fn new(admitter: Arc<PluginAdmitter>, authenticator: Authenticator) -> Self {
        Self { admitter, authenticator, revision: None, reported: None }
    }

    /// Reads the record if it has changed. If it cannot be read, what is known stays revoked.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub async fn look(&mut self) -> Result<(), StateError> {
        let (admitter, before) = (Arc::clone(&self.admitter), self.revision);
        let found = spawn_blocking(move || read(&admitter, before)).await;
        let found = found.map_err(|error| StateError::Storage(error.to_string()))?;
        if let Some((revision, revocations)) = found? {
            self.authenticator.set_revoked(to_revoked(&revocations));
            let number = revocations.len();
            match self.revision.replace(revision) {
                None if number == 0 => {}
                _ => {
                    tracing::info!(number, "read the list of revoked tokens");
                    tracing::debug!(target: AUDIT, event = "revocations", number, "read the list of revoked tokens");
                }
            }
        }
        Ok(())
    }

    /// Looks again and again, until `stop` is cancelled.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut looks = interval(LOOK_PERIOD);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = looks.tick() => {}
            }
            let failed = match self.look().await {
                // Others wrote meanwhile: the next look finds it.
                Ok(()) | Err(StateError::Moved) => None,
                Err(error) => Some(error.to_string()),
            };
            match (&failed, &self.reported) {
                (Some(error), None) => tracing::warn!(
                    "tokens that are revoked from now on are still accepted, since the list cannot be read: {error}"
                ),
                (None, Some(_)) => tracing::info!("the list of revoked tokens can be read again"),
                _ => {}
            }
            self.reported = failed;
        }
    }
}

/// Reads the record, unless it has this revision. The revision is read first: what comes in between is read again.
fn read(
    admitter: &PluginAdmitter,
    before: Option<u64>,
) -> Result<Option<(u64, Vec<TokenRevocation>)>, StateError> {
    let record = RevocationRecord::new(&admitter.open_state_folder()?);
    let revision = record.revision()?;
    if Some(revision) == before {
        return Ok(None);
    }
    Ok(Some((revision, record.list()?)))
}
