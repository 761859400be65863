//! The hosts that share the journal, for operators.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::lease::HostLabel;
use crate::{
    access::{DatabaseAccess, SessionKind},
    error::PostgresError,
};

/// Hosts with names, the oldest first.
const HOSTS: &str =
    "SELECT h.name, h.version, (extract(epoch FROM h.began) * 1000)::bigint, h.expires > now(),
        (SELECT count(*) FROM @runs r WHERE r.host = h.id AND r.ended_ms IS NULL)
    FROM @hosts h WHERE h.name <> '' ORDER BY h.began, h.id";

/// A host that shares the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSummary {
    /// Name and version.
    pub label: HostLabel,
    /// Start time.
    pub began: SystemTime,
    /// False if its lease is over: it ended without giving it up, or cannot reach the database.
    pub is_alive: bool,
    /// Number of unfinished runs that it holds.
    pub runs: u64,
}

/// Lists the hosts that share the journal, also those that ended within the last hour without giving their leases up.
///
/// # Errors
///
/// [`PostgresError`].
pub async fn list_hosts(access: &DatabaseAccess) -> Result<Vec<HostSummary>, PostgresError> {
    let session = access.connect(SessionKind::Brief).await?;
    let rows = session.client.query(&access.sql(HOSTS), &[]).await.map_err(|error| access.explain(&error))?;
    let hosts = rows.iter().map(|row| {
        let began = Duration::from_millis(u64::try_from(row.try_get::<_, i64>(2)?).unwrap_or_default());
        Ok(HostSummary {
            label: HostLabel { name: row.try_get(0)?, version: row.try_get(1)? },
            began: UNIX_EPOCH + began,
            is_alive: row.try_get(3)?,
            runs: u64::try_from(row.try_get::<_, i64>(4)?).unwrap_or_default(),
        })
    });
    hosts.collect::<Result<_, _>>().map_err(|error: tokio_postgres::Error| access.explain(&error))
}
