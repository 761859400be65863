//! JSON Lines into a store: all of them, or none.
//!
//! Lines are first read into a temporary database, one by one, and checked. Only then is the store locked, so a slow pipe
//! holds up no plugin.

use std::io::{BufRead, Read};

use rusqlite::{Connection, TransactionBehavior};

use crate::{
    StateError, StateSpace,
    commit::{self, EntryWrite},
    error::ConnectionError,
    limits,
    line::{ExportHead, ExportLine, ExportRecord, FORMAT, VERSION},
    row::{self, StoreMeta},
};

/// Bytes of a line, at most: those of a value of control characters, which JSON escapes with six bytes each.
const LINE_BYTES: u64 = 8 * 1024 * 1024;

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// Name of the facade whose state it was, by the export's head.
    pub facade: String,
    /// Entries that were written.
    pub entries: u64,
    /// Entries that were skipped because they had expired.
    pub expired: u64,
}

/// Entries that were read and checked, in a temporary database until it is dropped.
pub struct StagedImport {
    connection: Connection,
    facade: String,
    lines: u64,
}

impl StagedImport {
    /// Reads and checks all lines.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] with the number of a wrong line; [`StateError::Storage`] if they cannot be read or kept.
    pub fn read(mut reader: impl BufRead) -> Result<Self, StateError> {
        let head = InputLine::read(&mut reader, 1)?;
        let head = head.ok_or_else(|| line_error(1, "it is empty, and must begin with a head"))?;
        let not_an_export = || line_error(1, "it is not an export of `loggia state export`");
        let head: ExportHead<'_> = head.parse().map_err(|_| not_an_export())?;
        if head.format != FORMAT || head.version == 0 {
            return Err(not_an_export());
        }
        if head.version > VERSION {
            return Err(line_error(1, "a newer Loggia wrote it: update this one"));
        }
        let mut staged = Self {
            connection: open_temporary().map_err(staging_error)?,
            facade: head.facade.into_owned(),
            lines: 0,
        };
        let mut number = 1;
        while let Some(text) = InputLine::read(&mut reader, number + 1)? {
            number += 1;
            if text.bytes.trim_ascii().is_empty() {
                continue;
            }
            staged.lines += 1;
            let record = text
                .parse::<ExportLine<'_>>()?
                .into_record()
                .map_err(|message| line_error(number, &message))?;
            if !staged.add(&record).map_err(staging_error)? {
                return Err(line_error(number, &format!("`{}` occurs twice", record.key)));
            }
        }
        match head.entries {
            Some(entries) if entries != staged.lines => {
                let message = format!("it ends after {} of {entries} entries: it was cut off", staged.lines);
                Err(line_error(number, &message))
            }
            _ => Ok(staged),
        }
    }

    /// Adds an entry; `false` if its key was read before.
    fn add(&self, record: &ExportRecord) -> rusqlite::Result<bool> {
        let mut statement = self.connection.prepare_cached(
            "INSERT OR IGNORE INTO staged (space, key, until, value) VALUES (?1, ?2, ?3, ?4)",
        )?;
        let until = record.until.map(|until| until.min(i64::MAX as u64));
        let added = statement.execute((
            row::space_key(&record.space),
            record.key.as_bytes(),
            until,
            &record.value,
        ))?;
        Ok(added == 1)
    }

    /// Passes on the entries that have not expired, by space and by bytes of their keys. Returns the report.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if they cannot be read, and those of `write`.
    pub fn each<E: From<StateError>>(
        &self,
        now: u64,
        mut write: impl FnMut(StagedEntry<'_>) -> Result<(), E>,
    ) -> Result<ImportReport, E> {
        let failed = |error: ConnectionError| E::from(staging_failure(error));
        let sql = |error: rusqlite::Error| failed(error.into());
        let mut statement = self
            .connection
            .prepare(
                "SELECT space, key, until, value FROM staged WHERE until IS NULL OR until > ?1 ORDER BY space, key",
            )
            .map_err(sql)?;
        let mut rows = statement.query([now]).map_err(sql)?;
        let mut entries = 0;
        while let Some(row) = rows.next().map_err(sql)? {
            entries += 1;
            let space = row::space_at(row, 0).map_err(failed)?;
            let key = row::key_at(row, 1).map_err(failed)?;
            let (until, value) = (row.get(2).map_err(sql)?, row::blob(row, 3).map_err(failed)?);
            write(StagedEntry { space, key, until, value })?;
        }
        Ok(ImportReport { facade: self.facade.clone(), entries, expired: self.lines - entries })
    }
}

/// An entry of an import.
pub struct StagedEntry<'a> {
    /// The space that it is in.
    pub space: StateSpace,
    /// Its key.
    pub key: String,
    /// Time of expiry, in milliseconds since 1970.
    pub until: Option<u64>,
    /// Its value.
    pub value: &'a [u8],
}

/// Writes all entries to a file, in one transaction.
pub(crate) fn apply(
    staged: &StagedImport,
    store: &mut Connection,
    replace: bool,
    now: u64,
) -> Result<ImportReport, ConnectionError> {
    let transaction = store.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut meta = StoreMeta::read(&transaction)?;
    meta.revision += 1;
    if replace {
        transaction.execute_batch("DELETE FROM entries; DELETE FROM spaces")?;
        meta.floor = meta.revision;
    }
    let (version, mut last) = (meta.revision, None);
    let report = staged.each(now, |StagedEntry { space, key, until, value }| {
        let size = limits::size(&key, value);
        commit::put(&transaction, &EntryWrite { space: &space, key: &key, version, until, size, value })?;
        if last != Some(space) {
            commit::record_write(&transaction, &space, version)?;
            last = Some(space);
        }
        Ok::<_, ConnectionError>(())
    })?;
    meta.bytes = transaction.query_row("SELECT coalesce(sum(size), 0) FROM entries", [], |row| row.get(0))?;
    meta.write(&transaction)?;
    transaction.commit()?;
    Ok(report)
}

/// Opens a database without a name: SQLite keeps it in memory while it is small, and otherwise in a temporary file.
fn open_temporary() -> rusqlite::Result<Connection> {
    let connection = Connection::open("")?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF;
         CREATE TABLE staged (space BLOB, key BLOB, until INTEGER, value BLOB, UNIQUE (space, key)) STRICT;
         BEGIN;",
    )?;
    Ok(connection)
}

/// One line of the input, with its number.
struct InputLine {
    bytes: Vec<u8>,
    number: u64,
}

impl InputLine {
    fn read(reader: &mut impl BufRead, number: u64) -> Result<Option<Self>, StateError> {
        let mut bytes = Vec::new();
        let read = reader.by_ref().take(LINE_BYTES + 1).read_until(b'\n', &mut bytes);
        read.map_err(|error| StateError::Storage(format!("line {number} cannot be read: {error}")))?;
        if bytes.len() as u64 > LINE_BYTES {
            return Err(line_error(number, "it is longer than 8 MiB"));
        }
        Ok((!bytes.is_empty()).then_some(Self { bytes, number }))
    }

    fn parse<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, StateError> {
        // serde counts lines too, but sees only this one.
        serde_json::from_slice(&self.bytes).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            line_error(self.number, &format!("{message} (column {})", error.column()))
        })
    }
}

fn line_error(line: u64, message: &str) -> StateError {
    StateError::Invalid(format!("line {line}: {message}"))
}

fn staging_failure(error: ConnectionError) -> StateError {
    match error {
        ConnectionError::Sql(error) => staging_error(error),
        other => StateError::Storage(format!("the lines cannot be buffered: {other:?}")),
    }
}

fn staging_error(error: rusqlite::Error) -> StateError {
    StateError::Storage(format!("the lines cannot be buffered: {error}"))
}
