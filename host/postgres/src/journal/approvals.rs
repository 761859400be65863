//! The gate's store of approvals.

use std::sync::Arc;

use futures_util::{FutureExt, future, future::try_join};
use loggia_gate::{
    approval::{
        ApprovalClosing, ApprovalDecision, ApprovalRecord, ApprovalStore, DecisionOutcome, StoredApproval,
    },
    journal::{JournalError, JournalFuture},
};
use tokio_postgres::{Error, Row};

use super::{
    journal::{PostgresJournal, operation, random_mark},
    session::{RunResult, RunSession},
    work::{RunAttempt, is_text, to_i64},
};

impl ApprovalStore for PostgresJournal {
    fn open_approval(&self, record: ApprovalRecord) -> JournalFuture<ApprovalRecord> {
        let bytes = record.to_bytes();
        self.run(
            bytes.len(),
            operation!((record, bytes), |session, _attempt, (record, bytes)| open(&session, record, bytes)),
        )
    }

    fn approval(&self, id: String) -> JournalFuture<Option<StoredApproval>> {
        self.run(0, operation!(id, |session, _attempt, id| load(&session, id)))
    }

    fn decide_approval(
        &self,
        id: String,
        subject: String,
        decision: ApprovalDecision,
    ) -> JournalFuture<DecisionOutcome> {
        let bytes = decision.to_bytes();
        self.run(
            bytes.len(),
            operation!(
                (id, subject, decision.at_ms, bytes),
                |session, _attempt, (id, subject, at, bytes)| { decide(&session, id, subject, *at, bytes) }
            ),
        )
    }

    fn close_approval(&self, id: String, closing: ApprovalClosing) -> JournalFuture<bool> {
        let mark = match random_mark() {
            Ok(mark) => mark,
            Err(error) => return future::ready(Err(error)).boxed(),
        };
        self.run(
            0,
            operation!((id, closing, mark), |session, _attempt, (id, closing, mark)| {
                close(&session, id, *closing, mark)
            }),
        )
    }

    fn approvals(&self, most: usize) -> JournalFuture<Vec<StoredApproval>> {
        self.run(0, operation!((), |session, _attempt, ()| list(&session, most)))
    }
}

async fn open(session: &RunSession, record: &ApprovalRecord, bytes: &Vec<u8>) -> RunResult<ApprovalRecord> {
    let expires = to_i64(record.expires_ms);
    let statement = &session.statements.open_approval;
    let rows = session.rows(statement, &[&record.id, &record.subject, &expires, bytes]).await?;
    let Some(row) = rows.first() else {
        return Ok(Err(JournalError::Storage("an approval was not recorded".to_owned())));
    };
    Ok(ApprovalRecord::from_bytes(&row.try_get::<_, Vec<u8>>(0)?))
}

async fn load(session: &RunSession, id: &str) -> RunResult<Option<StoredApproval>> {
    if !is_text(id) {
        return Ok(Ok(None));
    }
    let rows = session.rows(&session.statements.approval, &[&id]).await?;
    rows.first().map(read_stored).transpose().map(Option::transpose)
}

async fn decide(
    session: &RunSession,
    id: &str,
    subject: &str,
    at_ms: u64,
    decision: &Vec<u8>,
) -> RunResult<DecisionOutcome> {
    if !is_text(id) || !is_text(subject) {
        return Ok(Ok(DecisionOutcome::Unknown));
    }
    let (decide, select) = (&session.statements.decide_approval, &session.statements.approval);
    let at = to_i64(at_ms);
    let (is_recorded, rows) =
        try_join(session.found(decide, &[&id, &subject, decision, &at]), session.rows(select, &[&id]))
            .await?;
    if is_recorded {
        return Ok(Ok(DecisionOutcome::Recorded));
    }
    let Some(row) = rows.first() else { return Ok(Ok(DecisionOutcome::Unknown)) };
    Ok(read_stored(row)?.map(|stored| DecisionOutcome::Refused(Box::new(stored))))
}

async fn close(session: &RunSession, id: &str, closing: ApprovalClosing, mark: &str) -> RunResult<bool> {
    if !is_text(id) {
        return Ok(Ok(false));
    }
    session.found(&session.statements.close_approval, &[&id, &closing.as_str(), &mark]).await.map(Ok)
}

async fn list(session: &RunSession, most: usize) -> RunResult<Vec<StoredApproval>> {
    let rows = session.rows(&session.statements.approvals, &[&to_i64(most)]).await?;
    rows.iter().map(read_stored).collect::<Result<Result<Vec<_>, JournalError>, Error>>()
}

fn read_stored(row: &Row) -> RunResult<StoredApproval> {
    let record: Vec<u8> = row.try_get(0)?;
    let (decision, closed): (Option<Vec<u8>>, Option<String>) = (row.try_get(1)?, row.try_get(2)?);
    Ok(StoredApproval::from_columns(&record, decision.as_deref(), closed.as_deref()))
}
