//! SQL: removing ended runs by age and size.

use loggia_gate::journal::RetentionLimits;
use rusqlite::{Connection, TransactionBehavior};

use crate::record::now_ms;

/// Runs removed at once, so that nobody waits for long.
const BATCH: usize = 256;

/// Removes ended runs beyond the limits, the oldest first.
pub(crate) fn sweep(connection: &mut Connection, limits: RetentionLimits) -> rusqlite::Result<()> {
    let oldest = now_ms().saturating_sub(u64::try_from(limits.age.as_millis()).unwrap_or(u64::MAX));
    loop {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let total: u64 = transaction.query_row(
            "SELECT coalesce(sum(bytes), 0) FROM runs WHERE ended_ms IS NOT NULL",
            [],
            |row| row.get(0),
        )?;
        let mut excess = total.saturating_sub(limits.bytes);
        let mut removed = 0;
        {
            let mut select = transaction.prepare_cached(
                "SELECT key, ended_ms, bytes FROM runs WHERE ended_ms IS NOT NULL ORDER BY ended_ms LIMIT ?1",
            )?;
            let rows = select.query_map([BATCH], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, u64>(1)?, row.get::<_, u64>(2)?))
            })?;
            for (key, ended, bytes) in rows.collect::<rusqlite::Result<Vec<_>>>()? {
                if ended >= oldest && excess == 0 {
                    break;
                }
                excess = excess.saturating_sub(bytes);
                removed += 1;
                for sql in [
                    "DELETE FROM entries WHERE run = ?1",
                    "DELETE FROM heads WHERE run = ?1",
                    "DELETE FROM outcomes WHERE run = ?1",
                    "DELETE FROM runs WHERE key = ?1",
                ] {
                    transaction.prepare_cached(sql)?.execute([key])?;
                }
            }
        }
        transaction.commit()?;
        if removed < BATCH {
            return Ok(());
        }
    }
}
