//! Changes of the tool list, in the lifecycle of 2026-07-28.

use std::{sync::Arc, time::Duration};

use rmcp::{Peer, RoleClient, model::SubscriptionFilter};
use tokio::{sync::Notify, time::sleep};

/// Time between two subscriptions: a server that ends them at once is asked this often.
const RETRY: Duration = Duration::from_secs(30);
/// Subscriptions in a row that brought nothing, after which the server is asked no more.
const FUTILE: u32 = 5;

/// Notifies of every change until the server refuses. Servers before 2026-07-28 notify by themselves.
pub(super) async fn listen_for_changes(peer: Peer<RoleClient>, changed: Arc<Notify>) {
    let lists_changes = peer
        .peer_info()
        .and_then(|info| info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed))
        .unwrap_or(false);
    let mut futile = 0;
    while lists_changes && futile < FUTILE && !peer.is_transport_closed() {
        futile += 1;
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        if let Ok(mut subscription) = peer.listen(filter).await {
            while let Ok(Some(_)) = subscription.next().await {
                futile = 0;
                changed.notify_one();
            }
        }
        sleep(RETRY).await;
        // Something may have changed meanwhile.
        changed.notify_one();
    }
}
