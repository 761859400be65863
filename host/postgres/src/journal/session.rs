//! A connection of the journal's queue.

use loggia_gate::journal::JournalError;
use tokio_postgres::{Error, Row, Statement};

use super::{lease::HostLease, statements::RunStatements};
use crate::{
    access::{DatabaseAccess, DatabaseSession, SessionKind},
    error::PostgresError,
    params::Params,
};

/// A connection of the journal's queue, with its statements.
pub(crate) struct RunSession {
    pub database: DatabaseSession,
    pub statements: RunStatements,
    /// Id of this host.
    pub host: String,
    begin: String,
}

impl RunSession {
    /// Connects, and makes sure that the host has a lease before it records anything.
    pub(crate) async fn connect(access: &DatabaseAccess, lease: &HostLease) -> Result<Self, PostgresError> {
        let database = access.connect(SessionKind::Durable).await?;
        let explain = |error: Error| access.explain(&error);
        let statements = RunStatements::prepare(&database.client, access).await.map_err(explain)?;
        // The transactions of one host run one after another, also those of a connection that it has lost.
        let begin =
            format!("BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({})", lease.lock);
        let session = Self { database, statements, host: lease.host.clone(), begin };
        session.renew(lease).await.map_err(explain)?;
        Ok(session)
    }

    /// Renews the lease of this host.
    pub(crate) async fn renew(&self, lease: &HostLease) -> Result<(), Error> {
        let params: Params<'_> = &[&self.host, &lease.valid_ms(), &lease.label.name, &lease.label.version];
        self.database.client.execute(&self.statements.renew, params).await.map(|_| ())
    }

    /// Begins a transaction.
    pub(crate) async fn begin(&self) -> Result<(), Error> {
        self.database.client.batch_execute(&self.begin).await
    }

    /// Commits it.
    pub(crate) async fn commit(&self) -> Result<(), Error> {
        self.database.client.batch_execute("COMMIT").await
    }

    /// Returns rows.
    pub(crate) async fn rows(&self, statement: &Statement, params: Params<'_>) -> Result<Vec<Row>, Error> {
        self.database.client.query(statement, params).await
    }

    /// Returns whether a statement that counts has found anything.
    pub(crate) async fn found(&self, statement: &Statement, params: Params<'_>) -> Result<bool, Error> {
        let row = self.database.client.query_one(statement, params).await?;
        row.try_get(0).map(|count: i64| count > 0)
    }
}

/// Result of an operation: what the database says, or an error of the connection.
pub(crate) type RunResult<T> = Result<Result<T, JournalError>, Error>;
