//! A store as JSON Lines.

use std::{borrow::Cow, io::Write};

use rusqlite::Connection;
use serde::Serialize;

use crate::{
    StateError,
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
    writer: &mut impl Write,
) -> Result<u64, ConnectionError> {
    let snapshot = snapshot(connection)?;
    let entries = list::count(connection, now)?.entries;
    write_head(facade, entries, writer)?;
    let mut statement = snapshot.prepare_cached(
        "SELECT space, key, until, value FROM entries WHERE until IS NULL OR until > ?1 ORDER BY space, key",
    )?;
    let mut rows = statement.query([now])?;
    while let Some(row) = rows.next()? {
        let (space, key) = (row::space_at(row, 0)?, row::key_at(row, 1)?);
        write_line(&ExportLine::new(&space, &key, row::blob(row, 3)?, row.get(2)?), writer)?;
    }
    flush(writer)?;
    Ok(entries)
}

/// Writes the export of a store without a file.
pub(crate) fn export_empty(facade: &str, writer: &mut impl Write) -> Result<u64, StateError> {
    write_head(facade, 0, writer)?;
    flush(writer)?;
    Ok(0)
}

fn write_head(facade: &str, entries: u64, writer: &mut impl Write) -> Result<(), StateError> {
    let (format, facade) = (Cow::Borrowed(FORMAT), Cow::Borrowed(facade));
    write_line(&ExportHead { format, version: VERSION, facade, entries: Some(entries) }, writer)
}

fn write_line(line: &impl Serialize, writer: &mut impl Write) -> Result<(), StateError> {
    let written = serde_json::to_writer(&mut *writer, line).map_err(std::io::Error::from);
    written.and_then(|()| writer.write_all(b"\n")).map_err(write_error)
}

fn flush(writer: &mut impl Write) -> Result<(), StateError> {
    writer.flush().map_err(write_error)
}

fn write_error(error: std::io::Error) -> StateError {
    StateError::Storage(format!("the export cannot be written: {error}"))
}
