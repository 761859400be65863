//! `tools/list_changed` and its like for clients of stateful sessions. Prompts and resources are actions, so all lists change
//! together.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use loggia_gate::catalog::Catalog;
use rmcp::{Peer, RoleServer, ServiceError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Timeout of a notification to one client. The others do not wait for it.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(5);
/// Changes within this time are notified once.
const BURST: Duration = Duration::from_millis(20);

/// Interval of removing disconnected clients: a kept peer holds all of rmcp's state for it.
const PRUNE_INTERVAL: Duration = Duration::from_secs(5);

/// Clients that completed a handshake.
#[derive(Default)]
pub struct SubscribedPeers {
    connected: Mutex<Vec<Peer<RoleServer>>>,
    /// Notified of each change.
    changes: watch::Sender<()>,
}

impl SubscribedPeers {
    /// Adds a client to notify.
    pub fn add(&self, peer: Peer<RoleServer>) {
        let mut peers = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| !peer.is_transport_closed());
        peers.push(peer);
    }

    /// Subscribes to the changes that peers are notified of.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    fn open(&self) -> Vec<Peer<RoleServer>> {
        let mut peers = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| !peer.is_transport_closed());
        peers.clone()
    }

    /// Notifies every client of every change, until `stop` is cancelled.
    pub async fn notify_changes(&self, catalog: &Catalog, stop: CancellationToken) {
        let mut changes = catalog.subscribe();
        // Lists wait for the first catalog, so it is no change, unless the wait timed out.
        if catalog.wait_until_admitted().await {
            changes.mark_unchanged();
        }
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                changed = changes.changed() => if changed.is_err() { return },
                () = tokio::time::sleep(PRUNE_INTERVAL) => {
                    drop(self.open());
                    continue;
                }
            }
            tokio::time::sleep(BURST).await;
            changes.mark_unchanged();
            // Before the peers: a session that hibernates in between hears of the change here.
            self.changes.send_replace(());
            for peer in self.open() {
                tokio::spawn(async move {
                    let sent = tokio::time::timeout(NOTIFY_TIMEOUT, notify_peer(&peer)).await;
                    if !matches!(sent, Ok(Ok(()))) {
                        tracing::debug!("failed to notify a client of a changed list");
                    }
                });
            }
        }
    }
}

async fn notify_peer(peer: &Peer<RoleServer>) -> Result<(), ServiceError> {
    peer.notify_tool_list_changed().await?;
    peer.notify_prompt_list_changed().await?;
    peer.notify_resource_list_changed().await
}
