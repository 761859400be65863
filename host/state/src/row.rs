//! How entries stand in the tables.

use rusqlite::{Connection, Row};

use crate::{Space, error::Trouble};

/// The one row of `meta`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meta {
    /// The counter of versions.
    pub revision: u64,
    /// What all entries count for the quota, expired ones that are still there too.
    pub bytes: u64,
    /// The highest revision of a space that is no more in `spaces`, because it has no entries.
    pub floor: u64,
}

impl Meta {
    pub(crate) fn read(connection: &Connection) -> Result<Self, Trouble> {
        let mut statement = connection.prepare_cached("SELECT revision, bytes, floor FROM meta")?;
        let meta = statement.query_row([], |row| {
            Ok(Self { revision: row.get(0)?, bytes: row.get(1)?, floor: row.get(2)? })
        })?;
        if meta.revision >= i64::MAX as u64 {
            return Err(Trouble::Damaged("its counter is used up"));
        }
        Ok(meta)
    }

    pub(crate) fn write(&self, connection: &Connection) -> Result<(), Trouble> {
        let mut statement =
            connection.prepare_cached("UPDATE meta SET revision = ?1, bytes = ?2, floor = ?3")?;
        statement.execute((self.revision, self.bytes, self.floor))?;
        Ok(())
    }
}

/// A space as the tables name it: empty for the shared one, so that it comes first.
pub(crate) fn space(space: &Space) -> &[u8] {
    match space {
        Space::Shared => &[],
        Space::Caller(caller) => caller,
    }
}

/// The space that a column names.
pub(crate) fn space_at(row: &Row<'_>, column: usize) -> Result<Space, Trouble> {
    match blob(row, column)? {
        [] => Ok(Space::Shared),
        caller => {
            caller.try_into().map(Space::Caller).map_err(|_| Trouble::Damaged("it names an unknown space"))
        }
    }
}

/// The key that a column holds.
pub(crate) fn key_at(row: &Row<'_>, column: usize) -> Result<String, Trouble> {
    let key = std::str::from_utf8(blob(row, column)?).map_err(|_| Trouble::Damaged("a key is no text"))?;
    Ok(key.to_owned())
}

/// The bytes that a column holds.
pub(crate) fn blob<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8], Trouble> {
    row.get_ref(column)?.as_blob().map_err(|_| Trouble::Damaged("a column has another type"))
}
