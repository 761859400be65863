//! Upstream MCP servers as a source of offers.
//!
//! ```text
//! settings ─▶ UpstreamServer ─ events ─▶ admit, under the policy ─▶ offers
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `entry.rs` | one upstream: its server, its policy, its offer |
//! | `settings.rs` | from the settings to what `loggia-upstream` starts (pure) |

mod entry;
mod settings;

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, FutureExt, join_all, select_all};
use loggia_upstream::{UpstreamRuntimes, UpstreamSpec};
use tokio::{task::block_in_place, time::Instant};

use self::entry::UpstreamEntry;
pub use self::settings::to_specs;
use super::{event::SourceEvent, offer_source::OfferSource};
use crate::{
    admit::FacadeStates,
    facade_kind::upstream_key,
    load_status::LoadStatus,
    offer::{FacadeOffer, OfferMap},
    pins::PinKeeper,
};

/// Interval of looking for changed policies.
const POLICY_INTERVAL: Duration = Duration::from_secs(2);

/// Runs upstreams and follows their tools.
pub struct UpstreamSource {
    entries: BTreeMap<String, UpstreamEntry>,
    load_status: Arc<LoadStatus>,
    /// Time from which the initial offers count as complete.
    grace: Instant,
    complete: bool,
    /// Time of the next look at the policies.
    next_look: Instant,
}

impl UpstreamSource {
    /// Starts upstreams on these runtimes. Their policies are in `folder`, by name. The first catalog waits for them for `grace`;
    /// those that take longer are listed when they are ready.
    pub fn start(
        specs: Vec<UpstreamSpec>,
        folder: &Path,
        runtimes: &UpstreamRuntimes,
        load_status: Arc<LoadStatus>,
        (states, pins): (&Arc<FacadeStates>, &Arc<PinKeeper>),
        grace: Duration,
    ) -> Self {
        let entry = |spec: UpstreamSpec| {
            let key = upstream_key(&spec.name);
            (key, UpstreamEntry::start(spec, folder, runtimes, Arc::clone(states), Arc::clone(pins)))
        };
        let now = Instant::now();
        Self {
            entries: specs.into_iter().map(entry).collect(),
            load_status,
            grace: now + grace,
            complete: false,
            next_look: now + POLICY_INTERVAL,
        }
    }

    async fn wait_for_event(&mut self) -> SourceEvent {
        loop {
            if !self.complete
                && (self.entries.values().all(UpstreamEntry::has_answered) || Instant::now() >= self.grace)
            {
                self.complete = true;
                self.entries.iter_mut().for_each(|(key, entry)| entry.stop_waiting(key));
                return SourceEvent::Complete;
            }
            if self.entries.is_empty() {
                return std::future::pending().await;
            }
            let wake = if self.complete { self.next_look } else { self.next_look.min(self.grace) };
            let changed = tokio::select! {
                key = self.next_change() => Some(key),
                () = tokio::time::sleep_until(wake) => None,
            };
            let admitted = match changed {
                Some(key) => self.admit(&key, UpstreamEntry::apply_event),
                None if Instant::now() >= self.next_look => {
                    self.next_look = Instant::now() + POLICY_INTERVAL;
                    let keys: Vec<String> = self.entries.keys().cloned().collect();
                    // All of them, whichever changed.
                    keys.iter().filter(|key| self.admit(key, UpstreamEntry::apply_policy)).count() > 0
                }
                None => false,
            };
            if admitted {
                return SourceEvent::Admitted;
            }
        }
    }

    /// Waits for news of an upstream; returns its key. Must not be called without upstreams. Cancel-safe.
    async fn next_change(&mut self) -> String {
        let changes = self.entries.iter_mut().map(|(key, entry)| {
            let key = key.clone();
            Box::pin(async move {
                entry.changed().await;
                key
            })
        });
        select_all(changes).await.0
    }

    /// Updates an offer and counts the result; returns whether it may have changed.
    fn admit(&mut self, key: &str, update: impl FnOnce(&mut UpstreamEntry, &str) -> Option<bool>) -> bool {
        let entry = self.entries.get_mut(key);
        // Contracts of many actions take long to check.
        let outcome = block_in_place(|| entry.and_then(|entry| update(entry, key)));
        match outcome {
            Some(true) => self.load_status.loaded.increment(),
            Some(false) => self.load_status.failed.increment(),
            None => {}
        }
        outcome.is_some()
    }
}

impl OfferSource for UpstreamSource {
    fn offers(&self) -> Vec<(&str, &FacadeOffer)> {
        self.entries.iter().map(|(key, entry)| (key.as_str(), &entry.offer)).collect()
    }

    fn offers_mut(&mut self) -> OfferMap<'_> {
        self.entries.iter_mut().map(|(key, entry)| (key.as_str(), &mut entry.offer)).collect()
    }

    fn settle_pins(&mut self) -> bool {
        self.entries.iter_mut().filter_map(|(key, entry)| entry.settle_pin(key).then_some(())).count() > 0
    }

    fn next_event(&mut self) -> BoxFuture<'_, SourceEvent> {
        self.wait_for_event().boxed()
    }

    fn settle(&mut self) -> BoxFuture<'_, ()> {
        async {
            while !self.entries.values().all(UpstreamEntry::has_answered) {
                let key = self.next_change().await;
                self.admit(&key, UpstreamEntry::apply_event);
            }
        }
        .boxed()
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, ()> {
        join_all(self.entries.into_values().map(UpstreamEntry::stop)).map(|_| ()).boxed()
    }
}
