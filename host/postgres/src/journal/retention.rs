//! Removing ended runs by age and size.

use loggia_gate::journal::RetentionLimits;

use super::options::JournalOptions;
use crate::{
    access::{DatabaseAccess, SessionKind},
    error::PostgresError,
};

/// Runs removed in one statement, which bounds the time of its locks.
const BATCH: u64 = 256;

/// Takes the turn of looking, unless another host had it within the period: milliseconds.
const TURN: &str =
    "UPDATE @format SET swept = now() WHERE swept <= now() - $1::float8 * interval '1 millisecond'";

/// Removes the rows of hosts that ended long ago without giving their leases up, messages that no host has taken, and
/// approvals a week after they have expired.
const HOSTS: &str = "DELETE FROM @hosts WHERE expires < now() - interval '1 hour';
    DELETE FROM @mail WHERE sent < now() - interval '5 minutes';
    DELETE FROM @approvals WHERE expires_ms < (extract(epoch FROM now()) * 1000)::bigint - 7 * 86400000::bigint";

/// Removes ended runs: age in milliseconds, bytes. The newest stay, as long as all together have no more bytes.
const RUNS: &str = "WITH ended AS (
        SELECT key, ended_ms, sum(bytes) OVER (ORDER BY ended_ms DESC, key DESC) AS newer FROM @runs
        WHERE ended_ms IS NOT NULL),
    gone AS (DELETE FROM @runs WHERE key IN (
        SELECT key FROM ended
        WHERE ended_ms < (extract(epoch FROM now()) * 1000)::bigint - $1::bigint OR newer > $2::bigint
        ORDER BY key LIMIT 256) RETURNING key),
    heads AS (DELETE FROM @heads WHERE run IN (SELECT key FROM gone)),
    outcomes AS (DELETE FROM @outcomes WHERE run IN (SELECT key FROM gone)),
    entries AS (DELETE FROM @entries WHERE run IN (SELECT key FROM gone))
    SELECT count(*) FROM gone";

/// Removes ended runs beyond the limits again and again. One of several hosts does it at a time.
pub(crate) async fn sweep_regularly(access: DatabaseAccess, options: JournalOptions) {
    loop {
        tokio::time::sleep(options.sweep).await;
        if let Err(error) = sweep(&access, &options).await {
            tracing::warn!("failed to remove old runs from the journal: {error}");
        }
    }
}

async fn sweep(access: &DatabaseAccess, options: &JournalOptions) -> Result<(), PostgresError> {
    let explain = |error: tokio_postgres::Error| access.explain(&error);
    let session = access.connect(SessionKind::Brief).await?;
    let period = options.sweep.as_secs_f64() * 1000.0;
    let turns = session.client.execute(&access.sql(TURN), &[&period]).await.map_err(explain)?;
    if turns == 0 {
        return Ok(());
    }
    session.client.batch_execute(&access.sql(HOSTS)).await.map_err(explain)?;
    let RetentionLimits { age, bytes } = options.limits;
    let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    let sql = access.sql(RUNS);
    loop {
        let row = session.client.query_one(&sql, &[&age, &bytes]).await.map_err(explain)?;
        if row.get::<_, i64>(0) < BATCH.cast_signed() {
            return Ok(());
        }
    }
}
