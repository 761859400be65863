//! `get` and `scan`.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use crate::{
    Entries, Entry, Space, StateError,
    error::Trouble,
    limits::{self, GET_BYTES, OVERHEAD, PAGE_BYTES, PAGE_ENTRIES},
    row::{self, Meta},
};

/// No UTF-8 has this byte, so all keys come before it.
const BEYOND: u8 = 0xff;

/// Reads as one moment's state.
pub(crate) fn snapshot(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
    Transaction::new_unchecked(connection, TransactionBehavior::Deferred)
}

pub(crate) fn get(
    connection: &Connection,
    space: &Space,
    keys: &[String],
    now: u64,
) -> Result<Vec<Option<Entry>>, Trouble> {
    // A single statement is of one moment anyway.
    let _snapshot = if keys.len() > 1 { Some(snapshot(connection)?) } else { None };
    let mut statement = connection.prepare_cached(
        "SELECT version, value FROM entries WHERE space = ?1 AND key = ?2 AND (until IS NULL OR until > ?3)",
    )?;
    let mut found = Vec::with_capacity(keys.len());
    let mut bytes = 0;
    for key in keys {
        let mut rows = statement.query((row::space(space), key.as_bytes(), now))?;
        let Some(row) = rows.next()? else {
            found.push(None);
            continue;
        };
        let value = row::blob(row, 1)?;
        bytes += value.len();
        if bytes > GET_BYTES {
            let said = format!("these keys have values of more than {GET_BYTES} bytes: get fewer at once");
            return Err(StateError::Invalid(said).into());
        }
        found.push(Some(Entry { key: key.clone(), value: value.to_vec(), version: row.get(0)? }));
    }
    Ok(found)
}

/// Which page is wanted.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The first key that may be in it.
    from: Vec<u8>,
    /// The first that may not.
    to: Vec<u8>,
    limit: usize,
    at: Option<u64>,
}

impl Wanted {
    pub(crate) fn new(
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        at: Option<u64>,
    ) -> Result<Self, StateError> {
        limits::bound(prefix, "the prefix")?;
        limits::bound(after.unwrap_or_default(), "the key to go on after")?;
        if limit == 0 {
            return Err(StateError::Invalid("the limit is 0, and must be 1 or more".to_owned()));
        }
        let prefix = prefix.as_bytes();
        // The key that comes next after another is the same with a NUL.
        let after = after.map_or_else(Vec::new, |after| [after.as_bytes(), &[0]].concat());
        let to = [prefix, &[BEYOND]].concat();
        Ok(Self { from: after.max(prefix.to_vec()), to, limit: limit.min(PAGE_ENTRIES) as usize, at })
    }
}

pub(crate) fn scan(
    connection: &Connection,
    space: &Space,
    wanted: &Wanted,
    now: u64,
) -> Result<Entries, Trouble> {
    let _snapshot = snapshot(connection)?;
    let meta = Meta::read(connection)?;
    if let Some(at) = wanted.at
        && (at > meta.revision || at < written(connection, space, &meta)?)
    {
        return Err(StateError::Moved.into());
    }
    let mut page = Entries { items: Vec::new(), more: false, revision: meta.revision };
    let mut statement = connection.prepare_cached(
        "SELECT key, version, size, value FROM entries \
         WHERE space = ?1 AND key >= ?2 AND key < ?3 AND (until IS NULL OR until > ?4) ORDER BY key",
    )?;
    let mut rows = statement.query((row::space(space), &wanted.from, &wanted.to, now))?;
    let mut bytes = 0u64;
    while let Some(row) = rows.next()? {
        // Known without the value, which is read only if it is wanted.
        bytes = row.get::<_, u64>(2)?.saturating_sub(OVERHEAD).saturating_add(bytes);
        if page.items.len() == wanted.limit || (bytes > PAGE_BYTES as u64 && !page.items.is_empty()) {
            page.more = true;
            break;
        }
        let value = row::blob(row, 3)?.to_vec();
        page.items.push(Entry { key: row::key_at(row, 0)?, value, version: row.get(1)? });
    }
    Ok(page)
}

/// When the space was last written to, or a later revision, if it has no entries.
fn written(connection: &Connection, space: &Space, meta: &Meta) -> Result<u64, Trouble> {
    let mut statement = connection.prepare_cached("SELECT revision FROM spaces WHERE space = ?1")?;
    let written = statement.query_row([row::space(space)], |row| row.get(0)).optional()?;
    Ok(written.unwrap_or(meta.floor))
}
