//! Connections that wait for the next request.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use hyper::client::conn::http1::SendRequest;
use parking_lot::Mutex;
use tokio::{runtime::Handle, time::Instant};

use crate::{body::Upload, destination::Target};

/// The side of a connection that requests go in at. Dropped, the connection ends.
pub(crate) type Sender = SendRequest<Upload>;

/// Waiting connections of one plugin, over all hosts: a grant for `*.example.com` must not turn into a thousand of them.
const KEPT: usize = 16;

/// An address is checked when its connection is made, so a connection must not stand for it for long.
const KEPT_FOR: Duration = Duration::from_secs(30);

/// The waiting connections of one plugin.
#[derive(Default)]
pub(crate) struct Pool {
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    /// The oldest first.
    waiting: Vec<(Target, Sender, Instant)>,
    /// Whether a task closes what gets too old. There is one only while anything waits.
    swept: bool,
}

impl Pool {
    /// The connection to a target that was used last.
    pub(crate) fn take(&self, to: &Target) -> Option<Sender> {
        let mut idle = self.idle.lock();
        idle.waiting.retain(|(_, sender, since)| !sender.is_closed() && since.elapsed() < KEPT_FOR);
        let at = idle.waiting.iter().rposition(|(target, sender, _)| target == to && sender.is_ready())?;
        Some(idle.waiting.remove(at).1)
    }

    /// Keeps a connection that is ready for another request.
    pub(crate) fn put(self: &Arc<Self>, to: Target, sender: Sender, runtime: &Handle) {
        let mut idle = self.idle.lock();
        if idle.waiting.len() == KEPT {
            idle.waiting.remove(0);
        }
        idle.waiting.push((to, sender, Instant::now()));
        if !idle.swept {
            idle.swept = true;
            runtime.spawn(sweep(Arc::downgrade(self)));
        }
    }
}

/// Closes what has waited too long, until nothing waits any more.
async fn sweep(pool: Weak<Pool>) {
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
