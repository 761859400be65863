//! Subscriptions to resources: a client hears of a resource once the state changes that it is made from.
//!
//! Stores are looked at while there are subscriptions, and none between two of their revisions: what a resource is made from is
//! compared by fingerprint, so that deletions count, and changes of other servers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    time::Duration,
};

use async_trait::async_trait;
use rmcp::{Peer, RoleServer, model::ResourceUpdatedNotificationParam};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Period in which stores are looked at.
const LOOK_PERIOD: Duration = Duration::from_millis(500);
/// Timeout of a notification to one client. The others do not wait for it.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(5);
/// Subscriptions of one session or stream.
pub(super) const SUBSCRIPTIONS: usize = 100;
/// Subscriptions of all clients.
const ALL_SUBSCRIPTIONS: usize = 10_000;

/// State of facades, as far as subscriptions need it.
#[async_trait]
pub trait StateObserver: Send + Sync {
    /// Fingerprints the keys with these prefixes in the shared state of a facade, in order. `None` if its revision is still this
    /// one, or it cannot be read.
    async fn observe(
        &self,
        facade: &str,
        prefixes: Vec<String>,
        revision: Option<u64>,
    ) -> Option<StateObservation>;
}

/// What was found of a facade's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateObservation {
    /// The store's counter.
    pub revision: u64,
    /// One for each prefix: equal as long as its keys and their versions are.
    pub fingerprints: Vec<u64>,
}

/// What a subscription is about.
#[derive(Debug, Clone)]
pub(super) struct SubscribedResource {
    pub uri: String,
    pub facade: String,
    /// Prefix of the keys it is made from. `None`: unknown, so that it never changes.
    pub prefix: Option<String>,
}

/// Keeps a session awake while it is held and the client listens. In the extensions of requests that belong to one.
#[derive(Clone)]
pub struct SessionHold(#[allow(dead_code, reason = "it is held, not read")] pub Arc<()>);

/// Who hears of changes.
pub(super) enum Subscriber {
    /// A client with a session.
    Session {
        id: String,
        peer: Peer<RoleServer>,
        /// Keeps the session awake.
        _hold: Option<SessionHold>,
    },
    /// A stream of `subscriptions/listen`.
    Stream(Weak<UpdatedResources>),
}

/// The resources of a stream that have changed and were not sent yet: at most one entry for each.
#[derive(Default)]
pub(super) struct UpdatedResources {
    /// Held for a change alone, never across a wait.
    uris: Mutex<BTreeSet<String>>,
    /// Wakes the one task that sends; wake-ups between two looks merge.
    added: Notify,
}

impl UpdatedResources {
    fn add(&self, uri: String) {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner).insert(uri);
        self.added.notify_one();
    }

    /// Waits for a changed resource and takes it. Cancel-safe.
    pub(super) async fn next(&self) -> String {
        loop {
            let first = self.uris.lock().unwrap_or_else(PoisonError::into_inner).pop_first();
            match first {
                Some(uri) => return uri,
                None => self.added.notified().await,
            }
        }
    }
}

/// Names a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SubscriptionId(u64);

struct ResourceSubscription {
    resource: SubscribedResource,
    subscriber: Subscriber,
    fingerprint: Option<u64>,
}

/// All subscriptions of a server.
#[derive(Default)]
pub(super) struct ResourceSubscriptions {
    observer: OnceLock<Arc<dyn StateObserver>>,
    /// Held for look-ups and changes alone, never across a wait.
    table: Mutex<SubscriptionTable>,
    added: Notify,
}

#[derive(Default)]
struct SubscriptionTable {
    next: u64,
    all: BTreeMap<SubscriptionId, ResourceSubscription>,
    /// Revision of each facade's state at the last look.
    revisions: BTreeMap<String, u64>,
}

impl ResourceSubscriptions {
    /// Follows the state of facades until `stop` is cancelled. Without it, no resource changes.
    pub(super) async fn follow(&self, observer: Arc<dyn StateObserver>, stop: CancellationToken) {
        let observer = self.observer.get_or_init(|| observer);
        loop {
            if self.lock().all.is_empty() {
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = self.added.notified() => {}
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK_PERIOD) => {}
            }
            for (facade, prefixes) in self.watched() {
                self.look(&**observer, facade, prefixes).await;
            }
        }
    }

    /// Adds a subscription. Changes count that are made after this returns. `None` if there are too many.
    pub(super) async fn add(
        &self,
        resource: SubscribedResource,
        subscriber: Subscriber,
    ) -> Option<SubscriptionId> {
        let fingerprint = self.fingerprint(&resource).await;
        let mut table = self.lock();
        if table.all.len() >= ALL_SUBSCRIPTIONS {
            table.prune();
        }
        if let Subscriber::Session { id, .. } = &subscriber {
            // A repeated subscription takes the place of the one before.
            table.remove_of_session(id, Some(&resource.uri));
            let is_own = |other: &ResourceSubscription| matches!(&other.subscriber, Subscriber::Session { id: own, .. } if own == id);
            if table.all.values().filter(|other| is_own(other)).count() >= SUBSCRIPTIONS {
                return None;
            }
        }
        if table.all.len() >= ALL_SUBSCRIPTIONS {
            return None;
        }
        // A look that began before must not count as one at this subscription.
        table.revisions.remove(&resource.facade);
        let id = SubscriptionId(table.next);
        table.next += 1;
        table.all.insert(id, ResourceSubscription { resource, subscriber, fingerprint });
        drop(table);
        self.added.notify_one();
        Some(id)
    }

    /// Removes a subscription.
    pub(super) fn remove(&self, id: SubscriptionId) {
        self.lock().all.remove(&id);
    }

    /// Removes the subscription of a session to a URI; returns whether it had one.
    pub(super) fn remove_of_session(&self, session: &str, uri: &str) -> bool {
        self.lock().remove_of_session(session, Some(uri))
    }

    async fn fingerprint(&self, resource: &SubscribedResource) -> Option<u64> {
        let prefix = resource.prefix.clone()?;
        let found = self.observer.get()?.observe(&resource.facade, vec![prefix], None).await?;
        found.fingerprints.first().copied()
    }

    /// The prefixes of each facade that are subscribed to, after the clients that are gone were removed.
    fn watched(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut table = self.lock();
        table.prune();
        let mut watched: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for ResourceSubscription { resource, .. } in table.all.values() {
            if let Some(prefix) = &resource.prefix {
                watched.entry(resource.facade.clone()).or_default().insert(prefix.clone());
            }
        }
        table.revisions.retain(|facade, _| watched.contains_key(facade));
        watched
    }

    /// Looks at the state of a facade, and notifies whom its changes concern.
    async fn look(&self, observer: &dyn StateObserver, facade: String, prefixes: BTreeSet<String>) {
        let revision = self.lock().revisions.get(&facade).copied();
        let prefixes: Vec<String> = prefixes.into_iter().collect();
        let Some(found) = observer.observe(&facade, prefixes.clone(), revision).await else { return };
        let now: BTreeMap<String, u64> = prefixes.into_iter().zip(found.fingerprints).collect();
        let mut table = self.lock();
        for subscription in table.all.values_mut().filter(|other| other.resource.facade == facade) {
            let prefix = subscription.resource.prefix.as_ref();
            let Some(print) = prefix.and_then(|prefix| now.get(prefix).copied()) else { continue };
            if subscription.fingerprint.replace(print) != Some(print) {
                subscription.notify();
            }
        }
        table.revisions.insert(facade, found.revision);
    }

    fn lock(&self) -> MutexGuard<'_, SubscriptionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SubscriptionTable {
    /// Removes the subscriptions of clients that are gone.
    fn prune(&mut self) {
        self.all.retain(|_, subscription| match &subscription.subscriber {
            Subscriber::Session { peer, .. } => !peer.is_transport_closed(),
            Subscriber::Stream(updated) => updated.strong_count() > 0,
        });
    }

    fn remove_of_session(&mut self, session: &str, uri: Option<&str>) -> bool {
        let before = self.all.len();
        self.all.retain(|_, subscription| match &subscription.subscriber {
            Subscriber::Session { id, .. } if id == session => {
                uri.is_some_and(|uri| subscription.resource.uri != uri)
            }
            _ => true,
        });
        self.all.len() < before
    }
}

impl ResourceSubscription {
    /// Notifies the client without waiting for it.
    fn notify(&self) {
        let uri = self.resource.uri.clone();
        match &self.subscriber {
            Subscriber::Session { peer, .. } => {
                let peer = peer.clone();
                tokio::spawn(async move {
                    let sent = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri));
                    if !matches!(tokio::time::timeout(NOTIFY_TIMEOUT, sent).await, Ok(Ok(()))) {
                        tracing::debug!("failed to notify a client of a changed resource");
                    }
                });
            }
            Subscriber::Stream(updated) => {
                if let Some(updated) = updated.upgrade() {
                    updated.add(uri);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_slow_stream_misses_no_resource() {
        let updated = UpdatedResources::default();
        for _ in 0..3 * SUBSCRIPTIONS {
            updated.add("a://1".to_owned());
        }
        updated.add("a://2".to_owned());
        assert_eq!((updated.next().await, updated.next().await), ("a://1".to_owned(), "a://2".to_owned()));
        assert_eq!(updated.next().now_or_never(), None);
        updated.add("a://1".to_owned());
        assert_eq!(updated.next().await, "a://1");
    }
}
