//! Operations on runs. Each sends all its statements at once when it is first polled; the second time, after an attempt that
//! may have been committed, it looks whether it was.

use std::collections::HashMap;

use futures_util::future::try_join3;
use loggia_gate::journal::{ClaimedRun, JournalError, NewRun, RunHolder, RunLease, StoredRun};
use tokio_postgres::{Error, Row};

use super::session::{RunResult, RunSession};

/// Bytes of the runs that are claimed at once. At least one is.
const CLAIM_BYTES: i64 = 64 << 20;

/// Whether an earlier attempt may have been committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunAttempt {
    First,
    Again,
}

pub(super) fn to_i64(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

fn to_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn bytes(entries: &[Vec<u8>]) -> i64 {
    to_i64(entries.iter().map(Vec::len).sum::<usize>())
}

fn or_lost(done: bool) -> RunResult<()> {
    Ok(if done { Ok(()) } else { Err(JournalError::Lost) })
}

/// Whether PostgreSQL can hold a text. A handle that it cannot hold is that of no run.
pub(super) fn is_text(text: &str) -> bool {
    !text.contains('\0')
}

/// Records a run with entries; without a host, it is leased to nobody.
pub(crate) async fn create(
    session: &RunSession,
    attempt: RunAttempt,
    host: Option<&str>,
    run: &NewRun,
    entries: &Vec<Vec<u8>>,
) -> RunResult<()> {
    let size = to_i64(run.head.len()).saturating_add(bytes(entries));
    let began = to_i64(run.began_ms);
    let statements = &session.statements;
    let is_new = session
        .found(
            &statements.create,
            &[&run.id, &run.facade, &run.action, &began, &host, &size, &run.head, entries],
        )
        .await?;
    let again = attempt == RunAttempt::Again;
    // One that is leased to nobody may be recorded by several.
    if is_new
        || host.is_none()
        || (again && session.found(&statements.created, &[&run.id, &run.head]).await?)
    {
        return Ok(Ok(()));
    }
    Ok(Err(JournalError::Storage(format!("the run `{}` is recorded already", run.id))))
}

pub(crate) async fn append(
    session: &RunSession,
    attempt: RunAttempt,
    lease: &RunLease,
    first: u64,
    entries: &Vec<Vec<u8>>,
) -> RunResult<()> {
    let (statements, fence, first) = (&session.statements, to_i64(lease.fence), to_i64(first));
    if entries.is_empty() {
        let holds = session.found(&statements.holds, &[&lease.run, &session.host, &fence, &first]).await?;
        return or_lost(holds);
    }
    let size = bytes(entries);
    let done = session
        .found(&statements.append, &[&lease.run, &session.host, &fence, &first, &size, entries])
        .await?;
    let again = attempt == RunAttempt::Again;
    or_lost(
        done || (again
            && session.found(&statements.appended, &[&lease.run, &fence, &first, entries]).await?),
    )
}

pub(crate) async fn finish(
    session: &RunSession,
    attempt: RunAttempt,
    lease: &RunLease,
    outcome: &Vec<u8>,
) -> RunResult<()> {
    let (statements, fence, size) = (&session.statements, to_i64(lease.fence), to_i64(outcome.len()));
    let done =
        session.found(&statements.finish, &[&lease.run, &session.host, &fence, &size, outcome]).await?;
    let again = attempt == RunAttempt::Again;
    or_lost(done || (again && session.found(&statements.finished, &[&lease.run, &fence, outcome]).await?))
}

pub(crate) async fn release(session: &RunSession, attempt: RunAttempt, lease: &RunLease) -> RunResult<()> {
    let (statements, fence) = (&session.statements, to_i64(lease.fence));
    let done = session.found(&statements.release, &[&lease.run, &session.host, &fence]).await?;
    let again = attempt == RunAttempt::Again;
    or_lost(done || (again && session.found(&statements.released, &[&lease.run, &fence]).await?))
}

/// Claims runs. `claim` is unique to the operation: a second attempt finds what the first one has claimed.
pub(crate) async fn claim(
    session: &RunSession,
    facades: &[String],
    most: usize,
    claim: &str,
) -> RunResult<Vec<ClaimedRun>> {
    let facades: Vec<&String> = facades.iter().filter(|facade| is_text(facade)).collect();
    let (statements, most) = (&session.statements, to_i64(most));
    let client = &session.database.client;
    let (_, runs, entries) = try_join3(
        client.execute(&statements.claim, &[&facades, &session.host, &most, &CLAIM_BYTES, &claim]),
        client.query(&statements.claimed, &[&session.host, &claim]),
        client.query(&statements.claimed_entries, &[&session.host, &claim]),
    )
    .await?;
    let mut by_run: HashMap<i64, Vec<Vec<u8>>> = HashMap::new();
    for row in entries {
        by_run.entry(row.try_get(0)?).or_default().push(row.try_get(1)?);
    }
    let claimed = runs.iter().map(|row| {
        let lease = RunLease { run: row.try_get(1)?, fence: to_u64(row.try_get(2)?) };
        let entries = by_run.remove(&row.try_get(0)?).unwrap_or_default();
        Ok(ClaimedRun { lease, head: row.try_get(3)?, entries })
    });
    claimed.collect::<Result<Vec<_>, Error>>().map(Ok)
}

pub(crate) async fn load(session: &RunSession, run: &str) -> RunResult<Option<StoredRun>> {
    if !is_text(run) {
        return Ok(Ok(None));
    }
    let rows = session.rows(&session.statements.load, &[&run]).await?;
    rows.first().map(read_stored).transpose().map(Ok)
}

pub(crate) async fn list(
    session: &RunSession,
    facade: Option<&str>,
    most: usize,
) -> RunResult<Vec<StoredRun>> {
    if !facade.is_none_or(is_text) {
        return Ok(Ok(Vec::new()));
    }
    let rows = session.rows(&session.statements.list, &[&facade, &to_i64(most)]).await?;
    rows.iter().map(read_stored).collect::<Result<Vec<_>, Error>>().map(Ok)
}

pub(crate) async fn history(session: &RunSession, run: &str) -> RunResult<Vec<Vec<u8>>> {
    if !is_text(run) {
        return Ok(Ok(Vec::new()));
    }
    let rows = session.rows(&session.statements.history, &[&run]).await?;
    rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<_>, Error>>().map(Ok)
}

pub(crate) async fn request_cancel(session: &RunSession, run: &str) -> RunResult<bool> {
    if !is_text(run) {
        return Ok(Ok(false));
    }
    session.found(&session.statements.request_cancel, &[&run]).await.map(Ok)
}

pub(crate) async fn holder(session: &RunSession, run: &str) -> RunResult<RunHolder> {
    if !is_text(run) {
        return Ok(Ok(RunHolder::Unknown));
    }
    let rows = session.rows(&session.statements.holder, &[&run]).await?;
    let Some(row) = rows.first() else { return Ok(Ok(RunHolder::Unknown)) };
    let (host, lives): (Option<String>, bool) = (row.try_get(0)?, row.try_get(1)?);
    Ok(Ok(host.filter(|_| lives).map_or(RunHolder::Unclaimed, RunHolder::Host)))
}

pub(crate) async fn cancel_requests(session: &RunSession) -> RunResult<Vec<String>> {
    let rows = session.rows(&session.statements.cancel_requests, &[&session.host]).await?;
    rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<_>, Error>>().map(Ok)
}

fn read_stored(row: &Row) -> Result<StoredRun, Error> {
    let run = NewRun {
        id: row.try_get(0)?,
        facade: row.try_get(1)?,
        action: row.try_get(2)?,
        began_ms: to_u64(row.try_get(3)?),
        head: row.try_get(4)?,
    };
    let (ended, outcome) = (row.try_get::<_, Option<i64>>(6)?, row.try_get::<_, Option<Vec<u8>>>(7)?);
    Ok(StoredRun { run, entries: to_u64(row.try_get(5)?), end: ended.map(to_u64).zip(outcome) })
}
