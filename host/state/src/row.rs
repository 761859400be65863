//! Rows of the tables.

use rusqlite::{Connection, Row};

use crate::{StateSpace, error::ConnectionError};

/// The one row of `meta`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreMeta {
    /// The counter of versions.
    pub revision: u64,
    /// Bytes that all entries count for the quota, including expired ones that are not removed yet.
    pub bytes: u64,
    /// The highest revision of a space that was removed from `spaces` because it has no entries.
    pub floor: u64,
}

impl StoreMeta {
    pub(crate) fn read(connection: &Connection) -> Result<Self, ConnectionError> {
        let mut statement = connection.prepare_cached("SELECT revision, bytes, floor FROM meta")?;
        let meta = statement.query_row([], |row| {
            Ok(Self { revision: row.get(0)?, bytes: row.get(1)?, floor: row.get(2)? })
        })?;
        if meta.revision >= i64::MAX as u64 {
            return Err(ConnectionError::Damaged("its counter is used up"));
        }
        Ok(meta)
    }

    pub(crate) fn write(&self, connection: &Connection) -> Result<(), ConnectionError> {
        let mut statement =
            connection.prepare_cached("UPDATE meta SET revision = ?1, bytes = ?2, floor = ?3")?;
        statement.execute((self.revision, self.bytes, self.floor))?;
        Ok(())
    }
}

/// Returns the key of a space in the tables: empty for the shared one, so that it sorts first.
pub fn space_key(space: &StateSpace) -> &[u8] {
    match space {
        StateSpace::Shared => &[],
        StateSpace::Caller(caller) => caller,
    }
}

/// Returns the space of a key; `None` if there is none.
pub fn space_from_key(key: &[u8]) -> Option<StateSpace> {
    match key {
        [] => Some(StateSpace::Shared),
        caller => caller.try_into().map(StateSpace::Caller).ok(),
    }
}

/// Reads a space from a column.
pub(crate) fn space_at(row: &Row<'_>, column: usize) -> Result<StateSpace, ConnectionError> {
    space_from_key(blob(row, column)?).ok_or(ConnectionError::Damaged("it names an unknown space"))
}

/// Reads a key from a column.
pub(crate) fn key_at(row: &Row<'_>, column: usize) -> Result<String, ConnectionError> {
    let key =
        std::str::from_utf8(blob(row, column)?).map_err(|_| ConnectionError::Damaged("a key is not text"))?;
    Ok(key.to_owned())
}

/// Reads bytes from a column.
pub(crate) fn blob<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8], ConnectionError> {
    row.get_ref(column)?.as_blob().map_err(|_| ConnectionError::Damaged("a column has another type"))
}
