//! The lease of a host: a row with an end by the server's clock.

use std::{io, time::Duration};

use super::options::JournalOptions;
use crate::{
    access::{DatabaseAccess, DatabaseSession, SessionKind},
    error::PostgresError,
    params::Params,
};

/// Renews the lease of a host: id, milliseconds, name, version.
pub(crate) const RENEW: &str = "INSERT INTO @hosts (id, expires, name, version) \
     VALUES ($1, now() + $2::float8 * interval '1 millisecond', $3, $4) ON CONFLICT (id) DO UPDATE SET expires = excluded.expires";

/// How operators know a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostLabel {
    /// Name, such as that of its machine; empty for a command that is no server.
    pub name: String,
    /// Version of its program.
    pub version: String,
}

/// Lease of this host.
#[derive(Clone)]
pub(crate) struct HostLease {
    /// Random id.
    pub host: String,
    /// How operators know it.
    pub label: HostLabel,
    /// Key of the lock that orders its transactions.
    pub lock: i64,
    /// Time until it ends, unless it is renewed.
    pub valid: Duration,
    /// Time between two renewals.
    pub renewal: Duration,
}

impl HostLease {
    /// Chooses the id of a new host.
    ///
    /// # Errors
    ///
    /// If the system has no random bytes.
    pub(crate) fn new(options: &JournalOptions, label: HostLabel) -> io::Result<Self> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        let host = format!("{:032x}", u128::from_be_bytes(bits));
        let [first, ..] = bits.as_chunks::<8>().0 else { return Err(io::Error::other("no random bytes")) };
        Ok(Self {
            host,
            label,
            lock: i64::from_be_bytes(*first),
            valid: options.lease,
            renewal: options.renewal,
        })
    }

    /// Milliseconds until it ends.
    pub(crate) fn valid_ms(&self) -> f64 {
        self.valid.as_secs_f64() * 1000.0
    }

    /// Renews the lease again and again, on a connection of its own, so that no commit delays it.
    pub(crate) async fn keep(self, access: DatabaseAccess) {
        let mut session = None;
        let mut reported = None;
        loop {
            tokio::time::sleep(self.renewal).await;
            // A renewal that takes longer than the lease is of no use.
            let renewed = tokio::time::timeout(self.valid, self.renew(&access, &mut session)).await;
            let error = match renewed {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => Some("the server does not answer".to_owned()),
            };
            if error.is_some() {
                session = None;
            }
            if let Some(error) = error.as_ref().filter(|_| reported.is_none()) {
                tracing::warn!(
                    "failed to renew the lease of this host, so others may take up its runs: {error}"
                );
            }
            if error.is_none() && reported.is_some() {
                tracing::info!("the lease of this host is renewed again");
            }
            reported = error;
        }
    }

    async fn renew(
        &self,
        access: &DatabaseAccess,
        session: &mut Option<DatabaseSession>,
    ) -> Result<(), PostgresError> {
        let connected = match session.take() {
            Some(connected) => connected,
            None => access.connect(SessionKind::Brief).await?,
        };
        let sql = access.sql(RENEW);
        let params: Params<'_> = &[&self.host, &self.valid_ms(), &self.label.name, &self.label.version];
        let renewed = connected.client.execute(&sql, params).await;
        renewed.map_err(|error| access.explain(&error))?;
        *session = Some(connected);
        Ok(())
    }

    /// Gives the lease up, so that others may take up its runs at once.
    pub(crate) async fn give_up(&self, access: &DatabaseAccess) -> Result<(), PostgresError> {
        let explain = |error: tokio_postgres::Error| access.explain(&error);
        let session = access.connect(SessionKind::Brief).await?;
        let sql = access.sql("DELETE FROM @hosts WHERE id = $1");
        session.client.execute(&sql, &[&self.host]).await.map(|_| ()).map_err(explain)
    }
}
