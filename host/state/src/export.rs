//! A store as JSON Lines.

use std::{borrow::Cow, io::Write};

use rusqlite::Connection;
use serde::Serialize;

use crate::{
    StateError, StateSpace,
    error::ConnectionError,
    line::{ExportHead, ExportLine, FORMAT, VERSION},
    list,
    read::snapshot,
    row,
};

/// Writes a head and a line for each entry, one at a time. Others may commit meanwhile.
pub(crate) fn export(
    connection: &Connection,
    facade: &str,
    now: u64,
    writer: &mut dyn Write,
) -> Result<u64, ConnectionError> {
    let snapshot = snapshot(connection)?;
    let entries = list::count(connection, now)?.entries;
    let mut writer = ExportWriter::begin(writer, facade, entries)?;
    let mut statement = snapshot.prepare_cached(
        "SELECT space, key, until, value FROM entries WHERE until IS NULL OR until > ?1 ORDER BY space, key",
    )?;
    let mut rows = statement.query([now])?;
    while let Some(row) = rows.next()? {
        let (space, key) = (row::space_at(row, 0)?, row::key_at(row, 1)?);
        writer.write(&space, &key, row::blob(row, 3)?, row.get(2)?)?;
    }
    Ok(writer.finish()?)
}

/// Writes an export: a head, and then the entries, by space and by bytes of their keys.
pub struct ExportWriter<'a> {
    writer: &'a mut dyn Write,
    entries: u64,
}

impl<'a> ExportWriter<'a> {
    /// Writes the head of an export of so many entries.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if the writer fails.
    pub fn begin(writer: &'a mut dyn Write, facade: &str, entries: u64) -> Result<Self, StateError> {
        let (format, facade) = (Cow::Borrowed(FORMAT), Cow::Borrowed(facade));
        write_line(&ExportHead { format, version: VERSION, facade, entries: Some(entries) }, writer)?;
        Ok(Self { writer, entries })
    }

    /// Writes an entry.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if the writer fails.
    pub fn write(
        &mut self,
        space: &StateSpace,
        key: &str,
        value: &[u8],
        until: Option<u64>,
    ) -> Result<(), StateError> {
        write_line(&ExportLine::new(space, key, value, until), self.writer)
    }

    /// Flushes the writer. Returns the number of entries.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if the writer fails.
    pub fn finish(self) -> Result<u64, StateError> {
        self.writer.flush().map_err(write_error)?;
        Ok(self.entries)
    }
}

fn write_line(line: &impl Serialize, writer: &mut dyn Write) -> Result<(), StateError> {
    let written = serde_json::to_writer(&mut *writer, line).map_err(std::io::Error::from);
    written.and_then(|()| writer.write_all(b"\n")).map_err(write_error)
}

fn write_error(error: std::io::Error) -> StateError {
    StateError::Storage(format!("the export cannot be written: {error}"))
}
