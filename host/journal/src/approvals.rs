//! SQL: approvals.

use std::time::Duration;

use futures_util::FutureExt;
use loggia_gate::{
    approval::{
        ApprovalClosing, ApprovalDecision, ApprovalRecord, ApprovalStore, DecisionOutcome, StoredApproval,
    },
    journal::{JournalError, JournalFuture},
};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::{
    journal::SqliteJournal,
    record::{now_ms, storage},
};

/// Time for which an approval is kept after it has expired.
const KEEP: Duration = Duration::from_hours(7 * 24);

impl ApprovalStore for SqliteJournal {
    fn open_approval(&self, record: ApprovalRecord) -> JournalFuture<ApprovalRecord> {
        self.run(true, record.clone(), move |connection, _| open(connection, &record))
    }

    fn approval(&self, id: String) -> JournalFuture<Option<StoredApproval>> {
        self.run(false, None, move |connection, _| load(connection, &id))
    }

    fn decide_approval(
        &self,
        id: String,
        subject: String,
        decision: ApprovalDecision,
    ) -> JournalFuture<DecisionOutcome> {
        self.run(false, DecisionOutcome::Unknown, move |connection, _| {
            decide(connection, &id, &subject, &decision)
        })
    }

    fn close_approval(&self, id: String, closing: ApprovalClosing) -> JournalFuture<bool> {
        self.run(false, false, move |connection, _| {
            let sql = "UPDATE approvals SET closed = ?2 WHERE id = ?1 AND closed IS NULL";
            let closed =
                connection.prepare_cached(sql).and_then(|mut update| update.execute((&id, closing.as_str())));
            closed.map(|count| count > 0).map_err(storage)
        })
    }

    fn approvals(&self, most: usize) -> JournalFuture<Vec<StoredApproval>> {
        self.run(false, Vec::new(), move |connection, _| list(connection, most)).boxed()
    }
}

fn open(connection: &Connection, record: &ApprovalRecord) -> Result<ApprovalRecord, JournalError> {
    let gone = now_ms().saturating_sub(u64::try_from(KEEP.as_millis()).unwrap_or(u64::MAX));
    connection.execute("DELETE FROM approvals WHERE expires_ms < ?1", [gone]).map_err(storage)?;
    let sql = "SELECT record FROM approvals WHERE subject = ?1 AND closed IS NULL";
    let mut select = connection.prepare_cached(sql).map_err(storage)?;
    let found = select.query_row([&record.subject], |row| row.get::<_, Vec<u8>>(0)).optional();
    if let Some(bytes) = found.map_err(storage)? {
        return ApprovalRecord::from_bytes(&bytes);
    }
    let sql = "INSERT INTO approvals (id, subject, expires_ms, record) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = connection.prepare_cached(sql).map_err(storage)?;
    // SQLite's numbers are signed.
    let expires = i64::try_from(record.expires_ms).unwrap_or(i64::MAX);
    insert.execute((&record.id, &record.subject, expires, record.to_bytes())).map_err(storage)?;
    Ok(record.clone())
}

fn decide(
    connection: &Connection,
    id: &str,
    subject: &str,
    decision: &ApprovalDecision,
) -> Result<DecisionOutcome, JournalError> {
    let sql = "UPDATE approvals SET decision = ?3 \
               WHERE id = ?1 AND subject = ?2 AND closed IS NULL AND decision IS NULL AND expires_ms > ?4";
    let mut update = connection.prepare_cached(sql).map_err(storage)?;
    let at = i64::try_from(decision.at_ms).unwrap_or(i64::MAX);
    if update.execute((id, subject, decision.to_bytes(), at)).map_err(storage)? > 0 {
        return Ok(DecisionOutcome::Recorded);
    }
    Ok(load(connection, id)?
        .map_or(DecisionOutcome::Unknown, |stored| DecisionOutcome::Refused(Box::new(stored))))
}

type Columns = (Vec<u8>, Option<Vec<u8>>, Option<String>);

fn read_columns(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

fn to_stored((record, decision, closed): Columns) -> Result<StoredApproval, JournalError> {
    StoredApproval::from_columns(&record, decision.as_deref(), closed.as_deref())
}

fn load(connection: &Connection, id: &str) -> Result<Option<StoredApproval>, JournalError> {
    let sql = "SELECT record, decision, closed FROM approvals WHERE id = ?1";
    let mut select = connection.prepare_cached(sql).map_err(storage)?;
    select.query_row([id], read_columns).optional().map_err(storage)?.map(to_stored).transpose()
}

fn list(connection: &Connection, most: usize) -> Result<Vec<StoredApproval>, JournalError> {
    let sql = "SELECT record, decision, closed FROM approvals ORDER BY closed IS NOT NULL, key DESC LIMIT ?1";
    let mut select = connection.prepare_cached(sql).map_err(storage)?;
    let found = select.query_map([most], read_columns).map_err(storage)?;
    found.map(|columns| to_stored(columns.map_err(storage)?)).collect()
}
