//! Errors of PostgreSQL in words for operators. None contains a password, or a value of a row.

use std::error::Error;

use loggia_gate::journal::JournalError;
use tokio_postgres::error::SqlState;

/// Error of opening a database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PostgresError {
    /// The URL, the schema's name or the password file.
    #[error("{0}")]
    Settings(String),
    /// The server cannot be reached, or its certificate is not accepted.
    #[error("the PostgreSQL server {server} cannot be reached: {reason}")]
    Unreachable {
        /// Its hosts and ports.
        server: String,
        /// The reason.
        reason: String,
    },
    /// The server does not accept the user or the password, or has no such database.
    #[error("the PostgreSQL server {server} refuses the login: {reason}")]
    Login {
        /// Its hosts and ports.
        server: String,
        /// Its message.
        reason: String,
    },
    /// The user may not create or use the schema.
    #[error(
        "the user of the PostgreSQL server {server} may not create or use the schema `{schema}`: {reason}; create it for \
         that user by CREATE SCHEMA … AUTHORIZATION …, or grant CREATE on the database"
    )]
    Rights {
        /// Its hosts and ports.
        server: String,
        /// The schema.
        schema: String,
        /// The server's message.
        reason: String,
    },
    /// A newer Loggia has written the schema.
    #[error("the schema `{schema}` was made by a newer Loggia (version {found}): update this one")]
    Newer {
        /// The schema.
        schema: String,
        /// Version of its tables.
        found: i32,
    },
    /// Any other error of the server.
    #[error("the PostgreSQL server {server} failed: {reason}")]
    Server {
        /// Its hosts and ports.
        server: String,
        /// Its message.
        reason: String,
    },
}

impl From<PostgresError> for JournalError {
    fn from(error: PostgresError) -> Self {
        Self::Storage(error.to_string())
    }
}

/// What follows from an error of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SqlFault {
    /// The connection is of no more use, and whether the transaction was committed is unknown.
    Broken,
    /// The transaction was rolled back since it met another one: it is to be repeated.
    Conflict,
    /// The statement is at fault.
    Statement,
}

/// Decides what follows from an error.
pub(crate) fn classify(error: &tokio_postgres::Error) -> SqlFault {
    let Some(state) = error.code() else { return SqlFault::Broken };
    match *state {
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => SqlFault::Conflict,
        // A server that became a standby.
        SqlState::READ_ONLY_SQL_TRANSACTION
        // Statements of a connection were lost, or are of older tables.
        | SqlState::INVALID_SQL_STATEMENT_NAME
        | SqlState::FEATURE_NOT_SUPPORTED
        | SqlState::TOO_MANY_CONNECTIONS
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => SqlFault::Broken,
        // Connection exceptions; the server shuts down, or starts.
        _ if state.code().starts_with("08") || state.code().starts_with("57P") => SqlFault::Broken,
        _ => SqlFault::Statement,
    }
}

/// Describes an error with its causes. The details of the server's errors are left out, since they show values.
pub(crate) fn describe(error: &tokio_postgres::Error) -> String {
    if let Some(server) = error.as_db_error() {
        return format!("{} (SQLSTATE {})", server.message(), server.code().code());
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// The schema of a server that statements and messages are about.
#[derive(Debug, Clone)]
pub(crate) struct SchemaScope {
    /// Hosts and ports of the server.
    pub server: String,
    /// The schema.
    pub schema: String,
}

impl SchemaScope {
    /// Writes the schema into a statement, in place of each `@`.
    pub(crate) fn sql(&self, statement: &str) -> String {
        statement.replace('@', &format!("\"{}\".", self.schema))
    }

    /// Converts an error of connecting, or of the first statements of a connection.
    pub(crate) fn explain(&self, error: &tokio_postgres::Error) -> PostgresError {
        let (server, reason) = (self.server.clone(), describe(error));
        match error.code() {
            None => PostgresError::Unreachable { server, reason },
            Some(
                &(SqlState::INVALID_PASSWORD
                | SqlState::INVALID_AUTHORIZATION_SPECIFICATION
                | SqlState::INVALID_CATALOG_NAME),
            ) => PostgresError::Login { server, reason },
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                PostgresError::Rights { server, schema: self.schema.clone(), reason }
            }
            Some(_) => PostgresError::Server { server, reason },
        }
    }
}
