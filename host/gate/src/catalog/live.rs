//! The current snapshot, and notifications of its changes.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use loggia_text::printable;
use tokio::sync::watch;

use super::{
    entry::CatalogSlot,
    lint,
    list_plan::ListPlan,
    notices::CatalogNotices,
    prompts::prompt_surfaces,
    publish,
    publish::ToolPublisher,
    resources::{FOREIGN_SCHEME_REASON, resource_definitions},
    skill::PluginSkill,
    snapshot::CatalogSnapshot,
    visible::{awaited_actions, shown_views},
};
use crate::access::ListId;

/// Time that a client waits for facades that may still be loading.
const PATIENCE: Duration = Duration::from_secs(8);

/// The current snapshot of facades. Read by every call, swapped by the loader alone.
pub struct Catalog {
    /// Current snapshot. Readers load an `Arc` without a lock and keep it as long as they need; a swap waits for none of them.
    current: ArcSwap<CatalogSnapshot>,
    /// Chooses the published forms, for each list. Never empty.
    publishers: Arc<[ToolPublisher]>,
    /// Generation of the published lists, prompts and resources. MCP sessions wait for it to change; the sender never waits.
    generations: watch::Sender<u64>,
    /// True once the first admission has ended, whatever its result. Also notified at every swap, so that those who wait for
    /// one facade look again. Waiters are bounded by the first admission, which waits for none of them.
    admission: watch::Sender<bool>,
    /// Notices for callers while an older version of a facade answers.
    pub notices: CatalogNotices,
}

impl Default for Catalog {
    fn default() -> Self {
        Self::new(ToolPublisher::default())
    }
}

impl Catalog {
    /// Creates an empty catalog whose one list is published by these settings.
    pub fn new(publisher: ToolPublisher) -> Self {
        Self::with_lists(ListPlan::new(publisher))
    }

    /// Creates an empty catalog with the lists of a plan.
    pub fn with_lists(plan: ListPlan) -> Self {
        let publishers: Arc<[ToolPublisher]> = plan.into_publishers().into();
        let empty = CatalogSnapshot::published_by(BTreeMap::new(), Arc::clone(&publishers));
        Self {
            current: ArcSwap::from_pointee(empty),
            publishers,
            generations: watch::Sender::new(0),
            admission: watch::Sender::new(false),
            notices: CatalogNotices::default(),
        }
    }

    /// Current snapshot. A call keeps the entry that it began with.
    pub fn snapshot(&self) -> Arc<CatalogSnapshot> {
        self.current.load_full()
    }

    /// Current slot of a name.
    pub fn slot(&self, name: &str) -> Option<CatalogSlot> {
        self.current.load().slots.get(name).cloned()
    }

    /// Replaces all slots atomically. Notifies subscribers only if a published list, a prompt or a resource changed.
    pub fn swap(&self, slots: BTreeMap<String, CatalogSlot>) {
        let old = self.current.load();
        let mut new = CatalogSnapshot::published_by(slots, Arc::clone(&self.publishers));
        let (before, now) = (old.default_list(), new.default_list());
        for (facade, tool) in now.hidden.difference(&before.hidden) {
            tracing::warn!(facade, "the tool `{tool}` {}", publish::HIDDEN_REASON);
        }
        for (_, tool) in now.listed().filter(|(name, tool)| before.tools.get(*name) != Some(*tool)) {
            lint::log_findings(tool);
        }
        let known = old.foreign_schemes();
        for (facade, scheme) in new.foreign_schemes() {
            if !known.contains(&(facade, scheme)) {
                tracing::warn!(facade, "`{scheme}` {FOREIGN_SCHEME_REASON}");
            }
        }
        let mut changed = !skills(&old.slots).eq(skills(&new.slots))
            || !resource_definitions(&old.slots).eq(resource_definitions(&new.slots))
            || !shown_views(&old.slots).eq(shown_views(&new.slots))
            || !awaited_actions(&old.slots).eq(awaited_actions(&new.slots))
            || !before.listed().eq(now.listed())
            || !prompt_surfaces(&old.slots).eq(prompt_surfaces(&new.slots));
        let mut former = old.former.clone();
        // A list that no client has asked for cannot have changed for one.
        for (id, published) in old
            .lists
            .iter()
            .enumerate()
            .filter_map(|(at, list)| Some((ListId(u16::try_from(at).ok()?), list.get()?)))
        {
            former.extend(published.tools.iter().map(|(name, tool)| (name.clone(), tool.facade.clone())));
            changed |= !published.listed().eq(new.list(id).listed());
        }
        former.retain(|name, _| !now.tools.contains_key(name));
        let generation = old.generation + u64::from(changed);
        drop(old);
        (new.former, new.generation) = (former, generation);
        self.current.store(Arc::new(new));
        if changed {
            self.generations.send_replace(generation);
        }
        self.admission.send_modify(|_| {});
    }

    /// Subscribes to the generation of the published lists, prompts and resources.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.generations.subscribe()
    }

    /// Marks the end of the first admission.
    pub fn mark_admitted(&self) {
        for name in self.publishers[0].unserved_names(&self.current.load().slots) {
            tracing::warn!("`{}` {}", printable(name), publish::UNSERVED_REASON);
        }
        self.admission.send_replace(true);
    }

    /// Returns true once the first admission has ended: facades that are missing now do not exist.
    pub fn is_admitted(&self) -> bool {
        *self.admission.borrow()
    }

    /// Waits for the end of the first admission, but no longer than a client waits for a list. Returns false on timeout.
    pub async fn wait_until_admitted(&self) -> bool {
        let mut admitted = self.admission.subscribe();
        tokio::time::timeout(PATIENCE, admitted.wait_for(|done| *done)).await.is_ok()
    }

    /// Waits until a list has a tool or the first admission has ended, but no longer than a client waits.
    pub async fn wait_for_tool(&self, list: ListId, tool: &str) {
        let mut admitted = self.admission.subscribe();
        let arrived = admitted.wait_for(|done| *done || self.snapshot().has_tool(list, tool));
        let _ = tokio::time::timeout(PATIENCE, arrived).await;
    }

    /// Returns true unless a facade is served under this name.
    pub fn is_missing(&self, name: &str) -> bool {
        !matches!(self.slot(name), Some(CatalogSlot::Serving(_)))
    }

    /// Waits for the end of the first admission without a timeout.
    pub async fn wait_for_admission(&self) {
        let _ = self.admission.subscribe().wait_for(|done| *done).await;
    }

    /// Waits until a name has a slot or the first admission has ended, without a timeout.
    pub async fn wait_for_slot(&self, name: &str) {
        let mut admitted = self.admission.subscribe();
        let _ = admitted.wait_for(|done| *done || self.slot(name).is_some()).await;
    }
}

/// The skills that come with facades.
fn skills(slots: &BTreeMap<String, CatalogSlot>) -> impl Iterator<Item = (&String, &PluginSkill)> {
    slots.iter().filter_map(|(name, slot)| match slot {
        CatalogSlot::Serving(entry) => Some((name, &**entry.skill.as_ref()?)),
        CatalogSlot::Unavailable(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::Pin,
        task::{Context, Waker},
    };

    use super::*;

    #[tokio::test]
    async fn waiting_for_one_name_ignores_others() {
        let slots =
            |name: &str| BTreeMap::from([(name.to_owned(), CatalogSlot::Unavailable("broken".to_owned()))]);
        let catalog = Catalog::default();
        type Waits<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;
        let mut waits: [Waits<'_>; 2] = [
            Box::pin(catalog.wait_for_slot("notes")),
            Box::pin(catalog.wait_for_tool(ListId::default(), "notes")),
        ];
        let mut context = Context::from_waker(Waker::noop());
        let mut over = || waits.each_mut().map(|waits| waits.as_mut().poll(&mut context).is_ready());
        assert_eq!(over(), [false, false]);
        catalog.swap(slots("other"));
        assert_eq!(over(), [false, false]);
        catalog.swap(slots("notes"));
        assert_eq!(over(), [true, true]);

        let catalog = Catalog::default();
        let waits = (catalog.wait_for_slot("notes"), catalog.wait_for_tool(ListId::default(), "notes"));
        catalog.mark_admitted();
        tokio::join!(waits.0, waits.1);
    }
}
