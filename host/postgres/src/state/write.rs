//! Commits. The row of the store is locked first; what is there is read in the same round trip, what is written is sent in the
//! next, with the end of the transaction.

use std::{
    collections::{BTreeSet, HashMap},
    sync::atomic::{AtomicBool, Ordering},
};

use loggia_state::{
    ChangeOperation, StateChange, StateError, StateSpace,
    backend::{CommitCount, OldEntry, check_versions, size, space_key},
};
use tokio::try_join;
use tokio_postgres::{Error, Row};

use super::{
    pool::{SessionPool, StoreFault, StoreSession, StoreTarget},
    read::{column, number},
};
use crate::{
    params::Params,
    pipeline::{PipelineStep, send_together},
};

/// Expired entries that a commit removes, in addition to twice the number of its changes.
const SWEEP: usize = 100;
/// Bytes of the mark of a commit: random ones, and its revision.
const MARK: usize = 16;
/// Marks that a store keeps. A commit whose answer was lost finds its own among them.
const MARKS: usize = 16;

/// The row of a store.
pub(crate) struct LockedStore {
    pub key: i64,
    pub live: bool,
    pub revision: u64,
    bytes: u64,
    recent: Vec<u8>,
}

impl LockedStore {
    pub(crate) fn read(row: &Row) -> Result<Self, StateError> {
        Ok(Self {
            key: column(row, 0)?,
            live: column(row, 1)?,
            revision: number(row, 2)?,
            bytes: number(row, 3)?,
            recent: column(row, 5)?,
        })
    }

    /// Revision of the commit with this mark, if it is one of the latest.
    fn find_mark(&self, mark: [u8; 8]) -> Option<u64> {
        let (marks, _) = self.recent.as_chunks::<MARK>();
        let found = marks.iter().find(|found| found[..8] == mark)?;
        found.last_chunk().map(|revision| u64::from_be_bytes(*revision))
    }

    /// Marks with another one.
    fn with_mark(&self, mark: [u8; 8], revision: u64) -> Vec<u8> {
        let mut marks = [mark, revision.to_be_bytes()].concat();
        marks.extend_from_slice(&self.recent);
        marks.truncate(MARK * MARKS);
        marks
    }
}

pub(crate) fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Begins a transaction, and locks a store. `None` if there is no such store.
pub(crate) async fn lock(session: &StoreSession, name: &str) -> Result<Option<LockedStore>, StoreFault> {
    let (client, statements) = (&session.database.client, &session.statements);
    let params: Params<'_> = &[&name];
    let ((), rows) =
        try_join!(biased; client.batch_execute("BEGIN"), client.query(&statements.lock, params))?;
    Ok(rows.first().map(LockedStore::read).transpose()?)
}

/// Creates a store that does not exist, and locks it.
pub(crate) async fn create(session: &StoreSession, target: &StoreTarget) -> Result<LockedStore, StoreFault> {
    let (client, statements, name) = (&session.database.client, &session.statements, &*target.name);
    let (create, lock): (Params<'_>, Params<'_>) = (&[&name, &target.now], &[&name]);
    let (_, row) = try_join!(
        biased;
        client.execute(&statements.create, create),
        client.query_one(&statements.lock, lock)
    )?;
    Ok(LockedStore::read(&row)?)
}

/// Ends a transaction, and reports whether the server warned about it.
pub(crate) async fn end(session: &StoreSession) -> Result<(), StoreFault> {
    session.database.client.batch_execute("COMMIT").await?;
    if session.database.take_warning() { Err(StoreFault::Warned) } else { Ok(()) }
}

/// Leaves a transaction without effect.
async fn roll_back(session: StoreSession, error: StateError) -> CommitResult {
    session.database.client.batch_execute("ROLLBACK").await?;
    Ok((session, Err(error)))
}

/// The connection, outside of transactions, with the version or why nothing was written.
type CommitResult = Result<(StoreSession, Result<u64, StateError>), StoreFault>;

pub(crate) async fn commit(
    pool: &SessionPool,
    target: &StoreTarget,
    space: StateSpace,
    changes: &[StateChange],
    quota: u64,
) -> Result<u64, StateError> {
    let mut mark = [0; 8];
    getrandom::fill(&mut mark).map_err(|error| StateError::Storage(error.to_string()))?;
    let is_sent = AtomicBool::new(false);
    let draft = CommitDraft { target, space, changes, quota, mark, is_sent: &is_sent };
    let done = pool.run(|session, attempt| draft.attempt(session, attempt > 0)).await;
    match done {
        Err(StateError::Busy) if is_sent.load(Ordering::Relaxed) => Err(StateError::Storage(
            "the server does not answer, so nobody knows whether the commit took effect".to_owned(),
        )),
        done => done?,
    }
}

/// A commit that is to be made.
struct CommitDraft<'a> {
    target: &'a StoreTarget,
    space: StateSpace,
    changes: &'a [StateChange],
    quota: u64,
    /// Random bytes by which it is found.
    mark: [u8; 8],
    /// Set once its end is on its way.
    is_sent: &'a AtomicBool,
}

/// What a commit found.
struct FoundState {
    now: u64,
    old: Vec<Option<OldEntry>>,
    /// Spaces, keys and sizes of the expired entries that it removes.
    swept: Vec<(Vec<u8>, Vec<u8>, u64)>,
}

impl CommitDraft<'_> {
    async fn attempt(&self, session: StoreSession, again: bool) -> CommitResult {
        session.database.take_warning();
        let (store, found) = match self.look(&session).await? {
            (Some(store), found) => (store, found),
            (None, _) => {
                create(&session, self.target).await?;
                let (store, found) = self.look_within(&session).await?;
                (store.ok_or_else(|| StateError::Storage("the store vanishes".to_owned()))?, found)
            }
        };
        if again && let Some(revision) = store.find_mark(self.mark) {
            // The commit of this transaction waits for the standbys, and so for the earlier one.
            session.database.client.execute(&session.statements.touch, &[&&*self.target.name]).await?;
            end(&session).await?;
            return Ok((session, Ok(revision)));
        }
        match self.decide(&session, &store, &found).await {
            Ok((counted, touched)) => {
                let version = store.revision + 1;
                self.is_sent.store(true, Ordering::Relaxed);
                self.write(&session, &store, &found, counted, &touched).await?;
                if session.database.take_warning() {
                    return Err(StoreFault::Warned);
                }
                Ok((session, Ok(version)))
            }
            Err(StoreFault::State(error)) => roll_back(session, error).await,
            Err(fault) => Err(fault),
        }
    }

    fn keys(&self) -> Vec<&[u8]> {
        self.changes.iter().map(|change| change.key.as_bytes()).collect()
    }

    /// Begins a transaction, locks the store and reads what is there.
    async fn look(&self, session: &StoreSession) -> Result<(Option<LockedStore>, FoundState), StoreFault> {
        let (_, looked) = try_join!(
            biased;
            async { Ok(session.database.client.batch_execute("BEGIN").await?) },
            self.look_within(session)
        )?;
        Ok(looked)
    }

    async fn look_within(
        &self,
        session: &StoreSession,
    ) -> Result<(Option<LockedStore>, FoundState), StoreFault> {
        let (client, statements, now) = (&session.database.client, &session.statements, self.target.now);
        let (name, space, keys) = (&*self.target.name, space_key(&self.space), self.keys());
        let most = i64::try_from(SWEEP + 2 * self.changes.len()).unwrap_or(i64::MAX);
        let lock: Params<'_> = &[&name];
        let old: Params<'_> = &[&name, &space, &keys, &now];
        let sweep: Params<'_> = &[&name, &space, &keys, &most, &now];
        let (store, old, swept) = try_join!(
            biased;
            client.query(&statements.lock, lock),
            client.query(&statements.old, old),
            client.query(&statements.sweep, sweep),
        )?;
        let store = store.first().map(LockedStore::read).transpose()?;
        let mut by_key: HashMap<&[u8], OldEntry> = HashMap::new();
        let mut now = 0;
        for row in &old {
            now = number(row, 0)?;
            if let Some(key) = column::<Option<&[u8]>>(row, 1)? {
                let old =
                    OldEntry { version: number(row, 2)?, size: number(row, 3)?, expired: column(row, 4)? };
                by_key.insert(key, old);
            }
        }
        let swept = swept.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?, number(row, 2)?)));
        let found = FoundState {
            now,
            old: keys.iter().map(|key| by_key.get(key).copied()).collect(),
            swept: swept.collect::<Result<_, StateError>>()?,
        };
        Ok((store, found))
    }

    /// Checks conditions and quota. Returns the bytes of the store afterwards, and the spaces that may be empty.
    async fn decide(
        &self,
        session: &StoreSession,
        store: &LockedStore,
        found: &FoundState,
    ) -> Result<(u64, BTreeSet<Vec<u8>>), StoreFault> {
        let versions = found.old.iter().map(|old| old.as_ref().and_then(OldEntry::live_version));
        check_versions(self.changes, versions)?;
        let mut counted = CommitCount::default();
        let mut touched: BTreeSet<Vec<u8>> = found.swept.iter().map(|(space, ..)| space.clone()).collect();
        for (change, old) in self.changes.iter().zip(&found.old) {
            let written = counted.count(change, old.as_ref(), found.now);
            if written.is_none() && old.is_some() && change.operation != ChangeOperation::Check {
                touched.insert(space_key(&self.space).to_vec());
            }
        }
        let swept: u64 = found.swept.iter().map(|(_, _, size)| size).sum();
        let bytes = (store.bytes.saturating_sub(counted.removed) + counted.added).saturating_sub(swept);
        if counted.grows() && bytes > self.quota {
            let (statements, client) = (&session.statements, &session.database.client);
            let (name, space) = (&*self.target.name, space_key(&self.space));
            let row = client
                .query_one(&statements.expired, &[&name, &space, &self.keys(), &self.target.now])
                .await?;
            // Those that this commit removes are counted already.
            let needed = bytes.saturating_sub(number(&row, 0)?.saturating_sub(swept));
            if needed > self.quota {
                return Err(StateError::Quota { needed, quota: self.quota }.into());
            }
        }
        Ok((bytes, touched))
    }

    /// Writes, and ends the transaction, in one round trip.
    async fn write(
        &self,
        session: &StoreSession,
        store: &LockedStore,
        found: &FoundState,
        bytes: u64,
        touched: &BTreeSet<Vec<u8>>,
    ) -> Result<(), Error> {
        let (client, statements) = (&session.database.client, &session.statements);
        let (space, revision) = (space_key(&self.space), to_i64(store.revision + 1));
        let mut counted = CommitCount::default();
        let mut batch = PutBatch::default();
        let mut deleted: Vec<(&[u8], &[u8])> =
            found.swept.iter().map(|(space, key, _)| (&space[..], &key[..])).collect();
        for (change, old) in self.changes.iter().zip(&found.old) {
            match counted.count(change, old.as_ref(), found.now) {
                Some((value, until)) => batch.add(space, &change.key, value, until),
                None if old.is_some() && change.operation != ChangeOperation::Check => {
                    deleted.push((space, change.key.as_bytes()));
                }
                None => {}
            }
        }
        let (recent, touched) = (store.with_mark(self.mark, store.revision + 1), Vec::from_iter(touched));
        let (bytes, spaces) = (to_i64(bytes), [space]);
        let mut steps: Vec<PipelineStep<'_>> = Vec::with_capacity(deleted.len() + 4);
        if !batch.keys.is_empty() {
            steps.push(Box::pin(async { batch.put(session, store.key, revision).await.map(|_| ()) }));
        }
        for (space, key) in &deleted {
            steps.push(Box::pin(async {
                client.execute(&statements.delete, &[&store.key, space, key]).await.map(|_| ())
            }));
        }
        steps.push(Box::pin(async {
            let record: Params<'_> = &[&store.key, &&spaces[..], &revision];
            let finish: Params<'_> = &[&store.key, &revision, &bytes, &recent, &touched];
            try_join!(
                biased;
                client.execute(&statements.record, record),
                client.execute(&statements.finish, finish),
            )?;
            Ok(())
        }));
        steps.push(Box::pin(client.batch_execute("COMMIT")));
        send_together(steps).await
    }
}

/// Entries that one statement writes.
#[derive(Default)]
pub(crate) struct PutBatch<'a> {
    spaces: Vec<&'a [u8]>,
    keys: Vec<&'a [u8]>,
    untils: Vec<Option<i64>>,
    sizes: Vec<i64>,
    values: Vec<&'a [u8]>,
}

impl<'a> PutBatch<'a> {
    pub(crate) fn add(&mut self, space: &'a [u8], key: &'a str, value: &'a [u8], until: Option<u64>) {
        self.spaces.push(space);
        self.keys.push(key.as_bytes());
        self.untils.push(until.map(to_i64));
        self.sizes.push(to_i64(size(key, value)));
        self.values.push(value);
    }

    pub(crate) async fn put(&self, session: &StoreSession, store: i64, version: i64) -> Result<u64, Error> {
        let Self { spaces, keys, untils, sizes, values } = self;
        let put = &session.statements.put;
        session.database.client.execute(put, &[&store, &version, spaces, keys, untils, sizes, values]).await
    }
}
