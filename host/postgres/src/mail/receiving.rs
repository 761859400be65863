//! The connection that takes what others have sent.

use std::time::Duration;

use tokio::{sync::mpsc, time::timeout};

use crate::{
    access::{DatabaseAccess, SessionKind},
    error::PostgresError,
    params::Params,
};

/// Time between two looks at the table, if no notification comes.
const POLL_PERIOD: Duration = Duration::from_secs(1);
/// The same, of a server without notifications.
const SHORT_PERIOD: Duration = Duration::from_millis(100);

/// Time for an answer of the server.
const PATIENCE: Duration = Duration::from_secs(5);

/// Takes messages: address.
const TAKE: &str =
    "DELETE FROM @mail WHERE key IN (SELECT key FROM @mail WHERE host = $1 ORDER BY key LIMIT 64)
    RETURNING key, message";

/// Takes the messages of a host until its inbox is dropped.
pub(crate) async fn receive(access: &DatabaseAccess, own: &str, arrived: mpsc::Sender<Vec<u8>>) {
    let mut is_reported = false;
    loop {
        let error = tokio::select! {
            () = arrived.closed() => return,
            received = receive_connected(access, own, &arrived, &mut is_reported) => match received {
                Ok(()) => return,
                Err(error) => error,
            },
        };
        if !is_reported {
            tracing::warn!("failed to receive messages of other servers: {error}");
        }
        is_reported = true;
        tokio::time::sleep(POLL_PERIOD).await;
    }
}

async fn receive_connected(
    access: &DatabaseAccess,
    own: &str,
    arrived: &mpsc::Sender<Vec<u8>>,
    is_reported: &mut bool,
) -> Result<(), PostgresError> {
    let explain = |error: tokio_postgres::Error| access.explain(&error);
    let silent = |_| access.unreachable("it does not answer");
    let session = timeout(PATIENCE, access.connect(SessionKind::Brief)).await.map_err(silent)??;
    // The address is ours: letters and digits.
    let listen = format!("LISTEN \"loggia_{own}\"");
    let listens = timeout(PATIENCE, session.client.batch_execute(&listen)).await.map_err(silent)?.is_ok();
    let period = if listens { POLL_PERIOD } else { SHORT_PERIOD };
    let take = session.client.prepare(&access.sql(TAKE)).await.map_err(explain)?;
    loop {
        let params: Params<'_> = &[&own];
        let taken = timeout(PATIENCE, session.client.query(&take, params));
        let mut rows = taken.await.map_err(silent)?.map_err(explain)?;
        *is_reported = false;
        if rows.is_empty() {
            let _ = timeout(period, session.notified()).await;
            continue;
        }
        rows.sort_by_key(|row| row.get::<_, i64>(0));
        for row in rows {
            if arrived.send(row.get(1)).await.is_err() {
                return Ok(());
            }
        }
    }
}
