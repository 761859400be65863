//! Exports, imports and removals, for operators.

use std::{collections::BTreeSet, io::Write};

use loggia_state::{
    ImportReport, StateError,
    backend::{ExportWriter, StagedEntry, StagedImport, space_from_key, space_key},
};
use tokio_postgres::Row;

use super::{
    pool::{SessionPool, StoreFault, StoreSession, StoreTarget},
    read::{column, damaged, number, text},
    thread::StoreThread,
    write::{LockedStore, PutBatch, create, end, lock, to_i64},
};
use crate::error::describe;

/// Entries that are read at once. Each may have 1 MiB.
const ROWS: usize = 16;
/// Bytes of an import that are sent at once, at least.
const BATCH_BYTES: usize = 256 << 10;

fn failed(error: &tokio_postgres::Error) -> StateError {
    StateError::Storage(describe(error))
}

impl From<StoreFault> for StateError {
    fn from(fault: StoreFault) -> Self {
        match fault {
            StoreFault::Sql(error) => failed(&error),
            StoreFault::Warned => Self::Storage("the server has warned about the commit".to_owned()),
            StoreFault::State(error) => error,
        }
    }
}

pub(crate) async fn names(pool: &SessionPool) -> Result<Vec<String>, StateError> {
    let rows = pool
        .run(|session: StoreSession, _| async {
            let rows = session.database.client.query(&session.statements.names, &[]).await?;
            Ok((session, rows))
        })
        .await?;
    rows.iter().map(|row| column(row, 0)).collect()
}

pub(crate) async fn share_secret(pool: &SessionPool, own: [u8; 32]) -> Result<[u8; 32], StateError> {
    let row: Row = pool
        .run(|session: StoreSession, _| async {
            let (client, statements) = (&session.database.client, &session.statements);
            client.execute(&statements.give_secret, &[&&own[..]]).await?;
            let row = client.query_one(&statements.secret, &[]).await?;
            Ok((session, row))
        })
        .await?;
    column::<&[u8]>(&row, 0)?.try_into().map_err(|_| damaged("the secret must have 32 bytes"))
}

pub(crate) async fn remove(pool: &SessionPool, name: &str) -> Result<(), StateError> {
    pool.run(|session: StoreSession, _| async {
        if let Some(store) = lock(&session, name).await? {
            empty(&session, &store, false).await?;
        }
        end(&session).await?;
        Ok((session, ()))
    })
    .await
}

/// Deletes all entries of a store, and counts its revision.
async fn empty(session: &StoreSession, store: &LockedStore, live: bool) -> Result<(), StoreFault> {
    let (client, statements) = (&session.database.client, &session.statements);
    client.execute(&statements.delete_all, &[&store.key]).await?;
    client.execute(&statements.reset, &[&store.key, &live, &to_i64(store.revision + 1)]).await?;
    Ok(())
}

pub(crate) async fn clear(pool: &SessionPool, target: &StoreTarget) -> Result<u64, StateError> {
    pool.run(|session: StoreSession, _| async {
        let mut entries = 0;
        if let Some(store) = lock(&session, &target.name).await?.filter(|store| store.live) {
            let usage = &session.statements.usage;
            let row = session.database.client.query_one(usage, &[&&*target.name, &target.now]).await?;
            entries = number(&row, 1)?;
            empty(&session, &store, true).await?;
        }
        end(&session).await?;
        Ok((session, entries))
    })
    .await
}

/// Rows of an export, as they are fetched.
const CURSOR: &str = "DECLARE entries NO SCROLL CURSOR FOR SELECT e.space, e.key, e.until, e.value
    FROM @stores s JOIN @state e ON e.store = s.key
    WHERE s.name = '$name' AND s.live AND (e.until IS NULL OR e.until > $now) ORDER BY e.space, e.key";

/// Opens a cursor over one state. Returns the number of its entries.
async fn open_cursor(pool: &SessionPool, target: &StoreTarget) -> Result<(StoreSession, u64), StateError> {
    let session = pool.take().await?;
    let client = &session.database.client;
    // The reader decides how long it takes.
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; \
                 SET LOCAL idle_in_transaction_session_timeout = 0";
    client.batch_execute(begin).await.map_err(|error| failed(&error))?;
    let counted = client.query_opt(&session.statements.usage, &[&&*target.name, &target.now]).await;
    let entries =
        counted.map_err(|error| failed(&error))?.map(|row| number(&row, 1)).transpose()?.unwrap_or(0);
    let now = match target.now {
        Some(now) => now.to_string(),
        None => "(extract(epoch FROM transaction_timestamp()) * 1000)::bigint".to_owned(),
    };
    // The name has letters, digits, `_` and `-` only.
    let cursor = pool.sql(CURSOR).replace("$name", &target.name).replace("$now", &now);
    client.batch_execute(&cursor).await.map_err(|error| failed(&error))?;
    Ok((session, entries))
}

pub(crate) fn export(
    thread: &StoreThread,
    target: &StoreTarget,
    writer: &mut dyn Write,
) -> Result<u64, StateError> {
    let (pool, opened) = (thread.pool.clone(), target.clone());
    let (mut session, entries) = thread.block(async move { open_cursor(&pool, &opened).await })?;
    let mut writer = ExportWriter::begin(writer, &target.name, entries)?;
    loop {
        let (returned, rows) = thread.block(async move {
            let rows = session.database.client.query(&format!("FETCH {ROWS} FROM entries"), &[]).await;
            rows.map(|rows| (session, rows)).map_err(|error| failed(&error))
        })?;
        session = returned;
        for row in &rows {
            let space = space_from_key(column(row, 0)?).ok_or_else(|| damaged("an unknown space"))?;
            let until: Option<i64> = column(row, 2)?;
            let until = until.and_then(|until| u64::try_from(until).ok());
            writer.write(&space, &text(column(row, 1)?)?, column(row, 3)?, until)?;
        }
        if rows.len() < ROWS {
            break;
        }
    }
    let pool = thread.pool.clone();
    thread.block(async move {
        session.database.client.batch_execute("COMMIT").await.map_err(|error| failed(&error))?;
        pool.put_back(session).await;
        Ok(())
    })?;
    writer.finish()
}

/// Entries that are sent together: space, key, time of expiry, value.
type OwnedEntries = Vec<(Vec<u8>, String, Option<u64>, Vec<u8>)>;

/// An import that is written in one transaction.
struct ImportWrite<'a> {
    thread: &'a StoreThread,
    /// `None` only while a batch is written, and after one has failed.
    session: Option<StoreSession>,
    store: LockedStore,
    version: i64,
    batch: OwnedEntries,
    bytes: usize,
}

impl ImportWrite<'_> {
    fn add(&mut self, entry: StagedEntry<'_>) -> Result<(), StateError> {
        self.bytes += entry.value.len() + entry.key.len();
        self.batch.push((space_key(&entry.space).to_vec(), entry.key, entry.until, entry.value.to_vec()));
        if self.bytes < BATCH_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), StateError> {
        let session = self.session.take().ok_or_else(|| damaged("a batch has failed"))?;
        let (store, version, entries) = (self.store.key, self.version, std::mem::take(&mut self.batch));
        self.bytes = 0;
        let written = self.thread.block(async move {
            let mut batch = PutBatch::default();
            for (space, key, until, value) in &entries {
                batch.add(space, key, value, *until);
            }
            let spaces =
                Vec::from_iter(entries.iter().map(|(space, ..)| &space[..]).collect::<BTreeSet<_>>());
            let record = &session.statements.record;
            let written = async {
                batch.put(&session, store, version).await?;
                session.database.client.execute(record, &[&store, &spaces, &version]).await
            };
            written.await.map_err(|error| failed(&error))?;
            Ok(session)
        })?;
        self.session = Some(written);
        Ok(())
    }
}

pub(crate) fn import(
    thread: &StoreThread,
    target: &StoreTarget,
    staged: &StagedImport,
    replace: bool,
) -> Result<ImportReport, StateError> {
    let (pool, locked) = (thread.pool.clone(), target.clone());
    let (session, store, now) = thread.block(async move {
        let session = pool.take().await?;
        session.database.take_warning();
        let store = match lock(&session, &locked.name).await? {
            Some(store) => store,
            None => create(&session, &locked).await?,
        };
        let client = &session.database.client;
        let old = &session.statements.old;
        let keys: [&[u8]; 0] = [];
        let row = client.query_one(old, &[&&*locked.name, &&[0u8; 0][..], &&keys[..], &locked.now]).await;
        let now = number(&row.map_err(|error| failed(&error))?, 0)?;
        if replace {
            empty(&session, &store, true).await?;
        }
        Ok((session, store, now))
    })?;
    let version = to_i64(store.revision + 1);
    let mut import =
        ImportWrite { thread, session: Some(session), store, version, batch: Vec::new(), bytes: 0 };
    let report = staged.each(now, |entry| import.add(entry))?;
    import.flush()?;
    let session = import.session.take().ok_or_else(|| damaged("a batch has failed"))?;
    let (pool, store) = (thread.pool.clone(), import.store.key);
    thread.block(async move {
        let recount = &session.statements.recount;
        let counted = session.database.client.execute(recount, &[&store, &version]).await;
        counted.map_err(|error| failed(&error))?;
        end(&session).await?;
        pool.put_back(session).await;
        Ok(())
    })?;
    Ok(report)
}
