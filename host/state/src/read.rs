//! `get` and `scan`.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use crate::{
    StateEntry, StateError, StatePage, StateSpace,
    error::ConnectionError,
    limits::{self, GET_BYTES, OVERHEAD, PAGE_BYTES, PAGE_ENTRIES},
    row::{self, StoreMeta},
};

/// UTF-8 never has this byte, so all keys sort before it.
const BEYOND: u8 = 0xff;

/// Begins a transaction that reads one snapshot.
pub(crate) fn snapshot(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
    Transaction::new_unchecked(connection, TransactionBehavior::Deferred)
}

pub(crate) fn get(
    connection: &Connection,
    space: &StateSpace,
    keys: &[String],
    now: u64,
) -> Result<Vec<Option<StateEntry>>, ConnectionError> {
    // A single statement reads one snapshot anyway.
    let _snapshot = if keys.len() > 1 { Some(snapshot(connection)?) } else { None };
    let mut statement = connection.prepare_cached(
        "SELECT version, value FROM entries WHERE space = ?1 AND key = ?2 AND (until IS NULL OR until > ?3)",
    )?;
    let mut found = Vec::with_capacity(keys.len());
    let mut bytes = 0;
    for key in keys {
        let mut rows = statement.query((row::space_key(space), key.as_bytes(), now))?;
        let Some(row) = rows.next()? else {
            found.push(None);
            continue;
        };
        let value = row::blob(row, 1)?;
        bytes += value.len();
        if bytes > GET_BYTES {
            let message = format!("these keys have values of more than {GET_BYTES} bytes: get fewer at once");
            return Err(StateError::Invalid(message).into());
        }
        found.push(Some(StateEntry { key: key.clone(), value: value.to_vec(), version: row.get(0)? }));
    }
    Ok(found)
}

/// The keys of one page.
#[derive(Debug, Clone)]
pub struct ScanRange {
    /// The first key that may be in the page.
    pub from: Vec<u8>,
    /// The first key after the range.
    pub to: Vec<u8>,
    /// Entries of the page, at most.
    pub limit: usize,
    /// Revision of an earlier page, of whose state this one must be.
    pub at: Option<u64>,
}

impl ScanRange {
    pub(crate) fn new(
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        at: Option<u64>,
    ) -> Result<Self, StateError> {
        limits::check_bound(prefix, "the prefix")?;
        limits::check_bound(after.unwrap_or_default(), "the key to continue after")?;
        if limit == 0 {
            return Err(StateError::Invalid("the limit is 0, and must be 1 or more".to_owned()));
        }
        let prefix = prefix.as_bytes();
        // The smallest key after another is that key with a NUL appended.
        let after = after.map_or_else(Vec::new, |after| [after.as_bytes(), &[0]].concat());
        let to = [prefix, &[BEYOND]].concat();
        Ok(Self { from: after.max(prefix.to_vec()), to, limit: limit.min(PAGE_ENTRIES) as usize, at })
    }

    /// Returns the page of a store that does not exist.
    ///
    /// # Errors
    ///
    /// [`StateError::Moved`] if the earlier page was of a store that existed.
    pub fn page_of_nothing(&self) -> Result<StatePage, StateError> {
        match self.at {
            Some(1..) => Err(StateError::Moved),
            _ => Ok(StatePage { items: Vec::new(), more: false, revision: 0 }),
        }
    }
}

pub(crate) fn scan(
    connection: &Connection,
    space: &StateSpace,
    range: &ScanRange,
    now: u64,
) -> Result<StatePage, ConnectionError> {
    let _snapshot = snapshot(connection)?;
    let meta = StoreMeta::read(connection)?;
    if let Some(at) = range.at
        && (at > meta.revision || at < last_write(connection, space, &meta)?)
    {
        return Err(StateError::Moved.into());
    }
    let mut page = StatePage { items: Vec::new(), more: false, revision: meta.revision };
    let mut statement = connection.prepare_cached(
        "SELECT key, version, size, value FROM entries \
         WHERE space = ?1 AND key >= ?2 AND key < ?3 AND (until IS NULL OR until > ?4) ORDER BY key",
    )?;
    let mut rows = statement.query((row::space_key(space), &range.from, &range.to, now))?;
    let mut bytes = 0u64;
    while let Some(row) = rows.next()? {
        // Computed without reading the value.
        bytes = row.get::<_, u64>(2)?.saturating_sub(OVERHEAD).saturating_add(bytes);
        if page.items.len() == range.limit || (bytes > PAGE_BYTES as u64 && !page.items.is_empty()) {
            page.more = true;
            break;
        }
        let value = row::blob(row, 3)?.to_vec();
        page.items.push(StateEntry { key: row::key_at(row, 0)?, value, version: row.get(1)? });
    }
    Ok(page)
}

/// Returns the revision of the last write to a space, or a later one if it has no entries.
pub(crate) fn last_write(
    connection: &Connection,
    space: &StateSpace,
    meta: &StoreMeta,
) -> Result<u64, ConnectionError> {
    let mut statement = connection.prepare_cached("SELECT revision FROM spaces WHERE space = ?1")?;
    let revision = statement.query_row([row::space_key(space)], |row| row.get(0)).optional()?;
    Ok(revision.unwrap_or(meta.floor))
}
