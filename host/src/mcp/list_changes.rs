//! `tools/list_changed` to the clients of stateful sessions. Streams of `subscriptions/listen` follow the catalog
//! themselves.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use loggia_gate::catalog::Catalog;
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How long one client may take to accept a notification; the others do not wait for it.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(5);
/// Changes that follow each other this closely are told once.
const BURST: Duration = Duration::from_millis(20);

/// How often clients that went away are forgotten: what is kept of one holds all that rmcp had for it.
const PRUNE_INTERVAL: Duration = Duration::from_secs(5);

/// The clients that finished a handshake.
#[derive(Default)]
pub struct SubscribedPeers {
    connected: Mutex<Vec<Peer<RoleServer>>>,
    /// Sent to with each change.
    changes: watch::Sender<()>,
}

impl SubscribedPeers {
    /// A client that wants to hear of changes.
    pub fn add(&self, peer: Peer<RoleServer>) {
        let mut peers = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| !peer.is_transport_closed());
        peers.push(peer);
    }

    /// Every change that peers are told of, for who tells it otherwise.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    fn open(&self) -> Vec<Peer<RoleServer>> {
        let mut peers = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| !peer.is_transport_closed());
        peers.clone()
    }

    /// Tells every client of every change, until told to stop.
    pub async fn notify_changes(&self, catalog: &Catalog, stop: CancellationToken) {
        let mut changes = catalog.changes();
        // Lists wait for the first admission, so what it brings is no news to anybody, unless they waited in vain.
        if catalog.admitted().await {
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
            // First: who falls asleep before it is told here hears of it there.
            self.changes.send_replace(());
            for peer in self.open() {
                tokio::spawn(async move {
                    let told = tokio::time::timeout(NOTIFY_TIMEOUT, peer.notify_tool_list_changed()).await;
                    if !matches!(told, Ok(Ok(()))) {
                        tracing::debug!("a client was not told that the list changed");
                    }
                });
            }
        }
    }
}
