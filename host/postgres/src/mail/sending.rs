//! The connection that sends.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use tokio_postgres::Error;

use crate::{
    access::{DatabaseAccess, DatabaseSession, SessionKind},
    error::PostgresError,
    params::Params,
};

/// Messages that are sent together.
const BATCH: usize = 64;
/// Time for sending them.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sends a message: address or null for all others, own address, message. Returns the number of hosts that it is for.
const SEND: &str = "WITH sent AS (INSERT INTO @mail (host, message)
        SELECT h.id, $3::bytea FROM @hosts h WHERE h.expires > now()
            AND CASE WHEN $1::text IS NULL THEN h.id <> $2 AND h.name <> '' ELSE h.id = $1 END
        RETURNING host)
    SELECT count(pg_notify('loggia_' || host, '')) FROM sent";

/// A message to be sent.
pub(crate) struct OutgoingMail {
    /// Address; `None`: all other hosts.
    pub to: Option<String>,
    pub message: Vec<u8>,
    /// Takes whether a host lives that it is for.
    pub sent: oneshot::Sender<bool>,
}

/// Sends messages until the queue is closed and empty. A batch that cannot be sent is given up.
pub(crate) async fn send_queued(access: &DatabaseAccess, own: &str, mut queue: mpsc::Receiver<OutgoingMail>) {
    let mut session: Option<DatabaseSession> = None;
    let mut batch = Vec::new();
    let mut is_reported = false;
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let sending = async {
            let connected = match session.take() {
                Some(connected) => connected,
                None => access.connect(SessionKind::Brief).await?,
            };
            let sent = send(access, &connected, own, &batch).await;
            let sent = sent.map_err(|error| access.explain(&error))?;
            session = Some(connected);
            Ok::<_, PostgresError>(sent)
        };
        let sent = timeout(PATIENCE, sending)
            .await
            .unwrap_or_else(|_| Err(access.unreachable("it does not answer")));
        match sent {
            Ok(sent) => {
                is_reported = false;
                // Whoever sent it may not wait for the answer.
                batch.drain(..).zip(sent).for_each(|(mail, hosts)| _ = mail.sent.send(hosts > 0));
            }
            Err(error) => {
                if !is_reported {
                    tracing::warn!("failed to send messages to other servers: {error}");
                }
                is_reported = true;
                batch.clear();
            }
        }
    }
}

/// Sends messages in one round trip.
async fn send(
    access: &DatabaseAccess,
    session: &DatabaseSession,
    own: &str,
    batch: &[OutgoingMail],
) -> Result<Vec<i64>, Error> {
    let statement = session.client.prepare(&access.sql(SEND)).await?;
    let statement = &statement;
    // Polled in this order, and so sent in it.
    let all = join_all(batch.iter().map(|mail| async move {
        let params: Params<'_> = &[&mail.to, &own, &mail.message];
        session.client.query_one(statement, params).await?.try_get(0)
    }));
    all.await.into_iter().collect()
}
