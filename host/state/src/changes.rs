//! What has changed in a space since a point in time.

use rusqlite::{Connection, params};

use crate::{
    StateSpace,
    error::ConnectionError,
    limits::KEY_BYTES,
    read::{last_write, snapshot},
    row::{self, StoreMeta},
};

/// Bytes of the keys of a list of changes, at most, unless its first key alone has more.
pub const CHANGED_BYTES: usize = 128 * KEY_BYTES;

/// A point in the changes of a space, which come by their versions, and within a version by the bytes of their keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeMark {
    /// All changes of earlier versions are before it.
    pub version: u64,
    /// The last key of this version that is before it; `None`: all are.
    pub key: Option<String>,
}

/// A key that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedKey {
    /// The key.
    pub key: String,
    /// Version of its entry.
    pub version: u64,
}

/// What was written after a mark and is there still. Deletions and expiry leave nothing behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceChanges {
    /// The keys, the first change first. A key that was written several times is at the last one.
    pub keys: Vec<ChangedKey>,
    /// The point after these changes.
    pub mark: ChangeMark,
    /// True if there are further ones.
    pub more: bool,
    /// The store's counter.
    pub revision: u64,
}

/// The changes to list.
#[derive(Debug, Clone)]
pub struct ChangeRange {
    /// The first key.
    pub from: Vec<u8>,
    /// The first key after the range.
    pub to: Vec<u8>,
    /// Point after which changes count.
    pub after: ChangeMark,
    /// Keys, at most.
    pub limit: usize,
}

impl ChangeRange {
    /// Lists what was found: one key more than the limit, if there are as many.
    pub fn list(&self, found: Vec<ChangedKey>, revision: u64) -> SpaceChanges {
        let (mut keys, mut bytes) = (Vec::new(), 0);
        let total = found.len();
        for changed in found {
            bytes += changed.key.len();
            if keys.len() == self.limit || (bytes > CHANGED_BYTES && !keys.is_empty()) {
                break;
            }
            keys.push(changed);
        }
        let more = keys.len() < total;
        let mark = match keys.last() {
            Some(last) if more => ChangeMark { version: last.version, key: Some(last.key.clone()) },
            // A store that was removed counts on from a higher number.
            _ => ChangeMark { version: revision.max(self.after.version), key: None },
        };
        SpaceChanges { keys, mark, more, revision }
    }
}

pub(crate) fn changes(
    connection: &Connection,
    space: &StateSpace,
    range: &ChangeRange,
    now: u64,
) -> Result<SpaceChanges, ConnectionError> {
    let _snapshot = snapshot(connection)?;
    let meta = StoreMeta::read(connection)?;
    let ChangeMark { version, key } = &range.after;
    // Mostly, nothing has changed.
    if key.is_none() && last_write(connection, space, &meta)? <= *version {
        return Ok(range.list(Vec::new(), meta.revision));
    }
    let mut statement = connection.prepare_cached(
        "SELECT key, version FROM entries WHERE space = ?1 AND key >= ?2 AND key < ?3 AND (until IS NULL OR until > ?4) \
         AND (version > ?5 OR version = ?5 AND key > ?6) ORDER BY version, key LIMIT ?7",
    )?;
    let after = key.as_ref().map_or_else(|| vec![0xff], |key| key.as_bytes().to_vec());
    let limit = i64::try_from(range.limit).unwrap_or(i64::MAX - 1) + 1;
    let mut rows =
        statement.query(params![row::space_key(space), range.from, range.to, now, version, after, limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(ChangedKey { key: row::key_at(row, 0)?, version: row.get(1)? });
    }
    Ok(range.list(found, meta.revision))
}
