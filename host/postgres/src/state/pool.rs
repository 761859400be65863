//! Connections, and attempts after one was lost.

use std::{future::Future, sync::Arc, time::Duration};

use loggia_state::StateError;
use tokio::{
    sync::{Mutex, Semaphore},
    time::{Instant, sleep, timeout_at},
};
use tokio_postgres::{Error, error::SqlState};

use super::statements::StoreStatements;
use crate::{
    access::{DatabaseAccess, DatabaseSession, SessionKind},
    error::{SqlFault, classify, describe},
};

/// Connections, at most. Requests wait for one.
const CONNECTIONS: usize = 8;
/// Longest time of a request, with its wait and all attempts.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// First pause before the next attempt.
const PAUSE_LEAST: Duration = Duration::from_millis(20);
/// Longest pause.
const PAUSE_MOST: Duration = Duration::from_millis(500);

/// A connection, with its statements.
pub(crate) struct StoreSession {
    pub database: DatabaseSession,
    pub statements: StoreStatements,
}

/// A store that a request is about.
#[derive(Clone)]
pub(crate) struct StoreTarget {
    pub name: Arc<str>,
    /// Time of a test's clock; `None`: that of the server.
    pub now: Option<i64>,
}

/// Why an attempt has failed.
#[derive(Debug)]
pub(crate) enum StoreFault {
    /// The connection, or a statement.
    Sql(Error),
    /// The server has warned, so that nobody knows what holds.
    Warned,
    /// The request.
    State(StateError),
}

impl From<Error> for StoreFault {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StateError> for StoreFault {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

/// Connections to one database. Clones share them.
#[derive(Clone)]
pub(crate) struct SessionPool {
    access: DatabaseAccess,
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<StoreSession>>>,
}

impl SessionPool {
    pub(crate) fn new(access: DatabaseAccess) -> Self {
        Self { access, permits: Arc::new(Semaphore::new(CONNECTIONS)), idle: Arc::default() }
    }

    /// Name of the database, for messages.
    pub(crate) fn name(&self) -> String {
        self.access.name()
    }

    /// Writes the schema into a statement.
    pub(crate) fn sql(&self, statement: &str) -> String {
        self.access.sql(statement)
    }

    /// Returns an idle connection, or opens one.
    pub(crate) async fn take(&self) -> Result<StoreSession, StateError> {
        // Popped before the lock is released, and connected after.
        let idle = self.idle.lock().await.pop();
        if let Some(session) = idle {
            return Ok(session);
        }
        let failed = |error: &dyn std::fmt::Display| StateError::Storage(error.to_string());
        let database = self.access.connect(SessionKind::Durable).await.map_err(|error| failed(&error))?;
        let statements = StoreStatements::prepare(&database.client, &self.access)
            .await
            .map_err(|error| failed(&self.access.explain(&error)))?;
        Ok(StoreSession { database, statements })
    }

    /// Keeps a connection that is outside of transactions.
    pub(crate) async fn put_back(&self, session: StoreSession) {
        let mut idle = self.idle.lock().await;
        if idle.len() < CONNECTIONS {
            idle.push(session);
        }
    }

    /// Runs a request, again if its connection was lost. `work` returns the connection outside of transactions, unless it
    /// fails; its number is that of the attempt.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`] if others held the store for too long; [`StateError::Storage`]; those of the request.
    pub(crate) async fn run<T, W, F>(&self, work: W) -> Result<T, StateError>
    where
        W: Fn(StoreSession, usize) -> F,
        F: Future<Output = Result<(StoreSession, T), StoreFault>>,
    {
        let deadline = Instant::now() + PATIENCE;
        let Ok(permit) = timeout_at(deadline, self.permits.acquire()).await else {
            return Err(StateError::Busy);
        };
        let _permit = permit.map_err(|_| StateError::Storage("its thread has ended".to_owned()))?;
        let (mut pause, mut attempt, mut reason) = (PAUSE_LEAST, 0, None);
        loop {
            let trying = async {
                let session = self.take().await?;
                work(session, attempt).await
            };
            match timeout_at(deadline, trying).await {
                Ok(Ok((session, done))) => {
                    self.put_back(session).await;
                    return Ok(done);
                }
                // The server does not answer, or others hold the store.
                Err(_) => return Err(reason.map_or(StateError::Busy, StateError::Storage)),
                Ok(Err(StoreFault::Warned)) => {
                    attempt += 1;
                    reason = Some("the server has warned about the commit".to_owned());
                }
                Ok(Err(StoreFault::State(StateError::Storage(lost)))) => reason = Some(lost),
                Ok(Err(StoreFault::State(error))) => return Err(error),
                Ok(Err(StoreFault::Sql(error))) => match (classify(&error), error.code()) {
                    (
                        SqlFault::Statement,
                        Some(&(SqlState::LOCK_NOT_AVAILABLE | SqlState::QUERY_CANCELED)),
                    ) => {
                        return Err(StateError::Busy);
                    }
                    (SqlFault::Statement, _) => return Err(StateError::Storage(describe(&error))),
                    (SqlFault::Conflict, _) => reason = Some(describe(&error)),
                    (SqlFault::Broken, _) => {
                        attempt += 1;
                        reason = Some(describe(&error));
                        // The others are probably lost, too.
                        self.idle.lock().await.clear();
                    }
                },
            }
            if timeout_at(deadline, sleep(pause)).await.is_err() {
                return Err(reason.map_or(StateError::Busy, StateError::Storage));
            }
            pause = (pause * 2).min(PAUSE_MOST);
        }
    }
}
