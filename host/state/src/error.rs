//! What can go wrong with a file, in the words of a store.

use std::{fmt::Display, path::Path};

use rusqlite::{Error, ErrorCode};

use crate::StateError;

/// What went wrong while a connection was used, before it is known of which file.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// SQLite's.
    Sql(Error),
    /// The store's own.
    State(StateError),
    /// What was read is nothing that a store writes.
    Damaged(&'static str),
    /// A newer host has written it, in this format.
    Newer(i32),
}

impl Trouble {
    /// The same, said of this file.
    pub(crate) fn at(self, path: &Path) -> StateError {
        match self {
            Self::Sql(error) => sql(path, error),
            Self::State(error) => error,
            Self::Damaged(why) => damaged(path, &why),
            Self::Newer(format) => StateError::Storage(format!(
                "{} was made by a newer Loggia (format {format}): update this one",
                path.display()
            )),
        }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StateError> for Trouble {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

fn sql(path: &Path, error: Error) -> StateError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StateError::Busy,
        Some(ErrorCode::DiskFull) => StateError::Storage(format!("{}: the disk is full", path.display())),
        // Without a code: a column has a value of a type that it cannot have. A constraint that fails is one of the
        // tables' own, which hold as long as they are whole.
        None
        | Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation) => {
            damaged(path, &error)
        }
        _ => io(path, &error),
    }
}

/// A file that cannot be made, read or written.
pub(crate) fn io(path: &Path, error: &dyn Display) -> StateError {
    StateError::Storage(format!("{}: {error}", path.display()))
}

/// A file that is not as a store wrote it.
fn damaged(path: &Path, why: &dyn Display) -> StateError {
    StateError::Storage(format!(
        "{} is damaged, or no file of Loggia's ({why}): move it away, and bring back what was exported",
        path.display()
    ))
}
