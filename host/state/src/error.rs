//! Errors of a store's file.

use std::{fmt::Display, path::Path};

use rusqlite::{Error, ErrorCode};

use crate::StateError;

/// Error of a connection, without the path of its file.
#[derive(Debug)]
pub(crate) enum ConnectionError {
    /// SQLite failed.
    Sql(Error),
    /// The request failed.
    State(StateError),
    /// The file has contents that no store writes.
    Damaged(&'static str),
    /// A newer host wrote the file, in this format.
    Newer(i32),
}

impl ConnectionError {
    /// Adds the path of the file.
    pub(crate) fn with_path(self, path: &Path) -> StateError {
        match self {
            Self::Sql(error) => sql_error(path, error),
            Self::State(error) => error,
            Self::Damaged(why) => damaged_error(path, &why),
            Self::Newer(format) => StateError::Storage(format!(
                "{} was made by a newer Loggia (format {format}): update this one",
                path.display()
            )),
        }
    }
}

impl From<Error> for ConnectionError {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StateError> for ConnectionError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

fn sql_error(path: &Path, error: Error) -> StateError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StateError::Busy,
        Some(ErrorCode::DiskFull) => StateError::Storage(format!("{}: the disk is full", path.display())),
        // Without a code: a column has a value of an impossible type. A constraint that fails is one of the tables' own,
        // which hold unless the file is damaged.
        None
        | Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation) => {
            damaged_error(path, &error)
        }
        _ => io_error(path, &error),
    }
}

/// Converts an error of a file that cannot be created, read or written.
pub(crate) fn io_error(path: &Path, error: &dyn Display) -> StateError {
    StateError::Storage(format!("{}: {error}", path.display()))
}

/// Makes the error of a file that is not as a store wrote it.
fn damaged_error(path: &Path, why: &dyn Display) -> StateError {
    StateError::Storage(format!(
        "{} is damaged or not a Loggia file ({why}): move it away and import a backup",
        path.display()
    ))
}
