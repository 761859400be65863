//! Transactions. Operations that come in while one is committed share the next.
//!
//! The statements of a transaction are sent at once, with its end. If the connection is lost before the answer, it is
//! unknown whether it was committed: each operation then looks for what it has done before it is called a failure.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use loggia_gate::journal::JournalError;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::Error;

use super::{lease::HostLease, session::RunSession, work::RunAttempt};
use crate::{
    access::DatabaseAccess,
    error::{SqlFault, classify, describe},
    pipeline::{PipelineStep, send_together},
};

/// First pause before the next attempt.
const PAUSE_LEAST: Duration = Duration::from_millis(20);
/// Longest pause.
const PAUSE_MOST: Duration = Duration::from_secs(1);

/// A queued operation.
pub(crate) trait RunWork: Send {
    /// Runs it within a transaction. The first attempt sends all its statements when it is first polled.
    fn run(&mut self, session: Arc<RunSession>, attempt: RunAttempt) -> BoxFuture<'_, Result<(), Error>>;
    /// Time at which its caller times out.
    fn deadline(&self) -> Instant;
    /// Bytes that it sends, about.
    fn weight(&self) -> usize;
    /// Answers it, once its transaction has succeeded or failed.
    fn reply(self: Box<Self>, committed: Result<(), JournalError>);
}

/// Runs transactions.
pub(crate) struct RunCommitter {
    pub access: DatabaseAccess,
    pub lease: HostLease,
    /// `None` after it was lost.
    pub session: Option<Arc<RunSession>>,
}

/// Why an attempt has failed.
enum AttemptFault {
    /// It is to be repeated; whether it was committed is unknown.
    Unknown(String),
    /// It is to be repeated; it was rolled back.
    Conflict(String),
    /// A statement is at fault.
    Statement(String),
}

/// Operations that were rolled back, since a statement is at fault.
struct FailedBatch {
    batch: Vec<Box<dyn RunWork>>,
    /// Whether an attempt before may have been committed.
    attempt: RunAttempt,
    reason: String,
}

impl From<Error> for AttemptFault {
    fn from(error: Error) -> Self {
        let reason = describe(&error);
        match classify(&error) {
            SqlFault::Broken => Self::Unknown(reason),
            SqlFault::Conflict => Self::Conflict(reason),
            SqlFault::Statement => Self::Statement(reason),
        }
    }
}

impl RunCommitter {
    /// Runs operations in one transaction, and answers them.
    pub(crate) async fn commit(&mut self, batch: Vec<Box<dyn RunWork>>) {
        let Some(failed) = self.commit_together(batch, RunAttempt::First).await else { return };
        // One of several is at fault, so each gets its own transaction.
        let is_alone = failed.batch.len() == 1;
        for work in failed.batch {
            let failed = match is_alone {
                true => Some(FailedBatch { batch: vec![work], reason: failed.reason.clone(), ..failed }),
                false => self.commit_together(vec![work], failed.attempt).await,
            };
            let Some(FailedBatch { batch, reason, .. }) = failed else { continue };
            batch.into_iter().for_each(|work| work.reply(Err(JournalError::Storage(reason.clone()))));
        }
    }

    /// Runs operations in one transaction, and answers them. Returns them unanswered if a statement is at fault.
    async fn commit_together(
        &mut self,
        mut batch: Vec<Box<dyn RunWork>>,
        mut attempt: RunAttempt,
    ) -> Option<FailedBatch> {
        let mut pause = PAUSE_LEAST;
        let mut reason = "the server does not answer".to_owned();
        loop {
            let now = Instant::now();
            let (late, rest): (Vec<_>, Vec<_>) = batch.into_iter().partition(|work| work.deadline() <= now);
            for work in late {
                work.reply(Err(JournalError::Storage(reason.clone())));
            }
            batch = rest;
            let deadline = batch.iter().map(|work| work.deadline()).min()?;
            let attempted = timeout_at(deadline, self.attempt(&mut batch, attempt)).await;
            let fault = match attempted {
                Ok(Ok(())) => {
                    batch.into_iter().for_each(|work| work.reply(Ok(())));
                    return None;
                }
                Ok(Err(fault)) => fault,
                Err(_) => AttemptFault::Unknown("the server does not answer".to_owned()),
            };
            if attempt == RunAttempt::Again {
                // Its transaction is not at its end.
                self.session = None;
            }
            match fault {
                AttemptFault::Statement(reason) => return Some(FailedBatch { batch, attempt, reason }),
                AttemptFault::Conflict(met) => reason = met,
                AttemptFault::Unknown(met) => {
                    tracing::debug!("the journal connects again: {met}");
                    (reason, attempt, self.session) = (met, RunAttempt::Again, None);
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MOST);
        }
    }

    async fn attempt(
        &mut self,
        batch: &mut [Box<dyn RunWork>],
        attempt: RunAttempt,
    ) -> Result<(), AttemptFault> {
        let session = match &self.session {
            Some(session) => Arc::clone(session),
            None => {
                let connected = RunSession::connect(&self.access, &self.lease).await;
                let connected =
                    Arc::new(connected.map_err(|error| AttemptFault::Unknown(error.to_string()))?);
                Arc::clone(self.session.insert(connected))
            }
        };
        session.database.take_warning();
        match attempt {
            RunAttempt::First => {
                let mut steps: Vec<PipelineStep<'_>> = vec![Box::pin(session.begin())];
                steps.extend(batch.iter_mut().map(|work| work.run(Arc::clone(&session), attempt)));
                steps.push(Box::pin(session.commit()));
                send_together(steps).await?;
            }
            RunAttempt::Again => {
                session.begin().await?;
                // A transaction that only reads does not wait for a standby. What it sees must be there, too.
                session.renew(&self.lease).await?;
                for work in batch {
                    work.run(Arc::clone(&session), attempt).await?;
                }
                session.commit().await?;
            }
        }
        match session.database.take_warning() {
            true => Err(AttemptFault::Unknown("the server has warned about the commit".to_owned())),
            false => Ok(()),
        }
    }
}
