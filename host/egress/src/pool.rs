//! Idle connections.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use hyper::client::conn::http1::SendRequest;
use parking_lot::Mutex;
use tokio::{runtime::Handle, time::Instant};

use crate::{body::UploadBody, destination::RequestTarget};

/// Request side of a connection. Dropping it closes the connection.
pub(crate) type RequestSender = SendRequest<UploadBody>;

/// Idle connections of one plugin, over all hosts: a grant for `*.example.com` must not turn into a thousand of them.
const KEPT: usize = 16;

/// Lifetime of an idle connection. Its address was checked when it was opened, and the name may lead elsewhere by now.
const KEPT_FOR: Duration = Duration::from_secs(30);

/// Idle connections of one plugin.
#[derive(Default)]
pub(crate) struct ConnectionPool {
    /// Locked by requests that take or return a connection and by the task that closes old ones; never across an await.
    idle: Mutex<IdleConnections>,
}

#[derive(Default)]
struct IdleConnections {
    /// Oldest first.
    waiting: Vec<(RequestTarget, RequestSender, Instant)>,
    /// True while a task closes old connections. It ends when none is left.
    swept: bool,
}

impl ConnectionPool {
    /// Takes the most recently used connection to a target.
    pub(crate) fn take(&self, to: &RequestTarget) -> Option<RequestSender> {
        let mut idle = self.idle.lock();
        idle.waiting.retain(|(_, sender, since)| !sender.is_closed() && since.elapsed() < KEPT_FOR);
        let at = idle.waiting.iter().rposition(|(target, sender, _)| target == to && sender.is_ready())?;
        Some(idle.waiting.remove(at).1)
    }

    /// Adds a connection that is ready for another request.
    pub(crate) fn put(self: &Arc<Self>, to: RequestTarget, sender: RequestSender, runtime: &Handle) {
        let mut idle = self.idle.lock();
        if idle.waiting.len() == KEPT {
            idle.waiting.remove(0);
        }
        idle.waiting.push((to, sender, Instant::now()));
        if !idle.swept {
            idle.swept = true;
            runtime.spawn(close_old(Arc::downgrade(self)));
        }
    }
}

/// Closes old connections until none is left.
async fn close_old(pool: Weak<ConnectionPool>) {
    loop {
        let next = {
            let Some(pool) = pool.upgrade() else { return };
            let mut idle = pool.idle.lock();
            idle.waiting.retain(|(_, sender, since)| !sender.is_closed() && since.elapsed() < KEPT_FOR);
            let Some((_, _, oldest)) = idle.waiting.first() else {
                idle.swept = false;
                return;
            };
            *oldest + KEPT_FOR
        };
        tokio::time::sleep_until(next).await;
    }
}
