//! JSON Lines into a store: all of them, or none.
//!
//! They are first read into a temporary database, line by line, and checked. Only then is the store locked, so whoever
//! writes to a pipe slowly holds up no plugin.

use std::io::{BufRead, Read};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{
    StateError,
    commit::{self, Put},
    error::Trouble,
    limits,
    line::{FORMAT, Head, Line, Record, VERSION},
    row::{self, Meta},
};

/// Bytes of a line, at most: a value of control characters, each of which JSON writes with six.
const LINE_BYTES: u64 = 8 * 1024 * 1024;

/// What was taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Whose state it was, by its head.
    pub facade: String,
    /// Entries that were written.
    pub entries: u64,
    /// Entries that had expired, and were not.
    pub expired: u64,
}

/// What was read and checked, on a disk of its own until it is dropped.
pub(crate) struct Staged {
    connection: Connection,
    facade: String,
    lines: u64,
}

impl Staged {
    /// Reads and checks all lines.
    pub(crate) fn read(mut reader: impl BufRead) -> Result<Self, StateError> {
        let head = Text::next(&mut reader, 1)?;
        let head = head.ok_or_else(|| wrong(1, "it is empty, and must begin with a head"))?;
        let no_export =
            || wrong(1, "it is no export of state, which begins with a line of `loggia state export`");
        let head: Head<'_> = head.parse().map_err(|_| no_export())?;
        if head.format != FORMAT || head.version == 0 {
            return Err(no_export());
        }
        if head.version > VERSION {
            return Err(wrong(1, "a newer Loggia wrote it: update this one"));
        }
        let mut staged =
            Self { connection: temporary().map_err(unstaged)?, facade: head.facade.into_owned(), lines: 0 };
        let mut number = 1;
        while let Some(text) = Text::next(&mut reader, number + 1)? {
            number += 1;
            if text.bytes.trim_ascii().is_empty() {
                continue;
            }
            staged.lines += 1;
            let record = text.parse::<Line<'_>>()?.record().map_err(|said| wrong(number, &said))?;
            if !staged.add(&record).map_err(unstaged)? {
                return Err(wrong(number, &format!("`{}` is there twice", record.key)));
            }
        }
        match head.entries {
            Some(entries) if entries != staged.lines => {
                let said = format!("it ends after {} of {entries} entries: it was cut off", staged.lines);
                Err(wrong(number, &said))
            }
            _ => Ok(staged),
        }
    }

    /// Keeps an entry; `false` if it is there.
    fn add(&self, record: &Record) -> rusqlite::Result<bool> {
        let mut statement = self.connection.prepare_cached(
            "INSERT OR IGNORE INTO staged (space, key, until, value) VALUES (?1, ?2, ?3, ?4)",
        )?;
        let until = record.until.map(|until| until.min(i64::MAX as u64));
        let added =
            statement.execute((row::space(&record.space), record.key.as_bytes(), until, &record.value))?;
        Ok(added == 1)
    }

    /// Writes all to the store, in one transaction.
    pub(crate) fn apply(self, store: &mut Connection, replace: bool, now: u64) -> Result<Imported, Trouble> {
        let transaction = store.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut meta = Meta::read(&transaction)?;
        meta.revision += 1;
        if replace {
            transaction.execute_batch("DELETE FROM entries; DELETE FROM spaces")?;
            meta.floor = meta.revision;
        }
        let entries = self.write(&transaction, meta.revision, now)?;
        meta.bytes =
            transaction.query_row("SELECT coalesce(sum(size), 0) FROM entries", [], |row| row.get(0))?;
        meta.write(&transaction)?;
        transaction.commit()?;
        Ok(Imported { facade: self.facade, entries, expired: self.lines - entries })
    }

    /// Writes what has not expired; answers how many.
    fn write(&self, transaction: &Transaction<'_>, version: u64, now: u64) -> Result<u64, Trouble> {
        let mut statement = self.connection.prepare(
            "SELECT space, key, until, value FROM staged WHERE until IS NULL OR until > ?1 ORDER BY space, key",
        )?;
        let mut rows = statement.query([now])?;
        let (mut last, mut entries) = (None, 0);
        while let Some(row) = rows.next()? {
            entries += 1;
            let (space, key) = (row::space_at(row, 0)?, row::key_at(row, 1)?);
            let (until, value) = (row.get(2)?, row::blob(row, 3)?);
            let size = limits::size(&key, value);
            commit::put(transaction, &Put { space: &space, key: &key, version, until, size, value })?;
            if last != Some(space) {
                commit::wrote(transaction, &space, version)?;
                last = Some(space);
            }
        }
        Ok(entries)
    }
}

/// A database without a name, which SQLite keeps in memory while it is small, and else in a file that goes with it.
fn temporary() -> rusqlite::Result<Connection> {
    let connection = Connection::open("")?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF;
         CREATE TABLE staged (space BLOB, key BLOB, until INTEGER, value BLOB, UNIQUE (space, key)) STRICT;
         BEGIN;",
    )?;
    Ok(connection)
}

/// One line, and which.
struct Text {
    bytes: Vec<u8>,
    number: u64,
}

impl Text {
    fn next(reader: &mut impl BufRead, number: u64) -> Result<Option<Self>, StateError> {
        let mut bytes = Vec::new();
        let read = reader.by_ref().take(LINE_BYTES + 1).read_until(b'\n', &mut bytes);
        read.map_err(|error| StateError::Storage(format!("line {number} cannot be read: {error}")))?;
        if bytes.len() as u64 > LINE_BYTES {
            return Err(wrong(number, "it is longer than 8 MiB"));
        }
        Ok((!bytes.is_empty()).then_some(Self { bytes, number }))
    }

    fn parse<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, StateError> {
        // serde counts lines too, and knows of this one alone.
        serde_json::from_slice(&self.bytes).map_err(|error| {
            let said = error.to_string();
            let said = said.split(" at line ").next().unwrap_or_default();
            wrong(self.number, &format!("{said} (column {})", error.column()))
        })
    }
}

fn wrong(line: u64, said: &str) -> StateError {
    StateError::Invalid(format!("line {line}: {said}"))
}

fn unstaged(error: rusqlite::Error) -> StateError {
    StateError::Storage(format!("the lines cannot be kept meanwhile: {error}"))
}
