//! The immutable snapshot of the facades now being served, and the news that it changed.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwap;
use loggia_facade::{Action, Command, Envelope, Facade, Failure, Next, Surface, code};
use loggia_schema::{Contract, View, nearest};
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    gate::{Breaker, Pace, Rights, Rules, Scopes, Tally},
    lint,
    publish::{self, Exposure, Publisher, Tool},
};

/// How long a client waits for what may still be loading.
const PATIENCE: Duration = Duration::from_secs(8);

/// One facade being served, with all that a call to it needs. Never changed: a new version is a new entry.
pub struct Entry {
    /// What answers.
    pub facade: Arc<dyn Facade>,
    /// Its surface with validators and published form.
    pub contract: Contract,
    /// What the operator's policy says of its calls.
    pub rules: Rules,
    /// How it is published.
    pub exposure: Exposure,
    /// Which bytes it came from, for logs: `sha256:…`, or the workflow's or upstream's own mark.
    pub origin: String,
    /// Names callers to it, where its policy lets it tell them apart.
    pub scopes: Option<Scopes>,
    /// How its calls have run so far.
    pub pace: Pace,
    /// How they have failed.
    pub breaker: Breaker,
    /// Where they are counted.
    pub tally: Tally,
}

impl Entry {
    /// An entry for a facade whose surface was sanitised and checked.
    pub fn new(
        facade: Arc<dyn Facade>,
        contract: Contract,
        rules: Rules,
        exposure: Exposure,
        origin: String,
    ) -> Self {
        let (pace, breaker) = (Pace::new(&rules), Breaker::new(rules.breaker));
        Self {
            facade,
            contract,
            rules,
            exposure,
            origin,
            scopes: None,
            pace,
            breaker,
            tally: Tally::default(),
        }
    }

    /// The same facade, which may tell callers apart.
    #[must_use]
    pub fn with_scopes(self, scopes: Option<Scopes>) -> Self {
        Self { scopes, ..self }
    }

    /// What the facade publishes.
    pub fn surface(&self) -> &Arc<Surface> {
        self.contract.surface()
    }

    /// The name of the action that is meant: without one the facade's default.
    pub fn meant<'a>(&'a self, action: &'a str) -> &'a str {
        if !action.is_empty() {
            return action;
        }
        match (&self.surface().default_action, self.surface().actions.as_slice()) {
            (Some(default), _) => default,
            (None, [only]) => &only.name,
            (None, _) => "",
        }
    }

    /// An action by its name, an alias or another case; without a name the facade's default.
    ///
    /// # Errors
    ///
    /// If there is none, or none that may be called.
    pub fn lookup(&self, action: &str) -> Result<Action, Failure> {
        self.contract.action(self.meant(action)).cloned()
    }
}

/// What stands under a name.
#[derive(Clone)]
pub enum Slot {
    /// Calls are answered.
    Serving(Arc<Entry>),
    /// The name was served, or claimed by a file that could not be loaded; calls are answered with the reason.
    Unavailable(String),
}

/// The facades at one moment. In the order of their names.
#[derive(Clone, Default)]
pub struct Snapshot {
    /// By the facade's name.
    pub slots: BTreeMap<String, Slot>,
    /// What is published, by the tool's name. Most facades are one tool of the same name.
    pub tools: BTreeMap<String, Tool>,
    /// Tools that are not published since their names are others', with their facades.
    hidden: BTreeSet<(String, String)>,
    /// Tools that were published before, and whose they were: clients keep stale lists.
    former: BTreeMap<String, String>,
    /// Grows with every change of what is published.
    pub generation: u64,
}

impl Snapshot {
    /// Facades of which nothing is published.
    pub fn of(slots: BTreeMap<String, Slot>) -> Self {
        Self { slots, ..Self::default() }
    }

    /// One action of a facade.
    ///
    /// # Errors
    ///
    /// If the facade does not answer calls, or has no such action.
    pub fn lookup(&self, facade: &str, action: &str) -> Result<Action, Failure> {
        let why = match self.slots.get(facade) {
            Some(Slot::Serving(entry)) => return entry.lookup(action),
            Some(Slot::Unavailable(reason)) => reason,
            None => "it is not served now",
        };
        Err(Failure::new(code::UNAVAILABLE, format!("`{facade:.80}` is unavailable: {why}")))
    }

    /// The same for the operator of a workflow's facade: what keeps the workflow from running, with what may be meant.
    ///
    /// # Errors
    ///
    /// If the facade is the workflow's own or does not answer calls, or has no such action.
    pub fn sought(&self, own: &str, facade: &str, action: &str) -> Result<Action, Failure> {
        if facade == own {
            let said =
                format!("`{facade:.80}` is this file itself; a workflow calls those of other files alone");
            return Err(Failure::new(code::DENIED, said));
        }
        self.lookup(facade, action).map_err(|failure| {
            let names = self.slots.keys().map(String::as_str).filter(|name| *name != own);
            match nearest(facade, names).filter(|_| !self.slots.contains_key(facade)) {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure,
            }
        })
    }

    /// The entries that answer calls.
    pub fn serving(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.slots.values().filter_map(|slot| match slot {
            Slot::Serving(entry) => Some(entry),
            Slot::Unavailable(_) => None,
        })
    }

    /// The tools that answer calls, for messages to a caller of these rights.
    pub fn names(&self, rights: &Rights) -> String {
        let there = self.tools.iter().filter(|(_, tool)| self.view(tool, rights).is_some());
        let names: Vec<&str> = there.map(|(name, _)| name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    /// What a tool takes of a caller of these rights; none where it is not there for that caller.
    pub fn view<'a>(&'a self, tool: &'a Tool, rights: &Rights) -> Option<Cow<'a, View>> {
        if rights.are_all() {
            return Some(Cow::Borrowed(tool.view()));
        }
        match self.slots.get(&tool.facade) {
            Some(Slot::Serving(entry)) => rights.narrow(entry, tool.view()),
            _ => None,
        }
    }

    /// Whether a facade is there for a caller of these rights.
    pub fn reaches(&self, facade: &str, rights: &Rights) -> bool {
        rights.reach(facade)
            && match self.slots.get(facade) {
                Some(Slot::Serving(entry)) => rights.narrow(entry, &View::whole()).is_some(),
                _ => true,
            }
    }

    /// Whether a name is, or was, a tool's.
    pub fn knows(&self, tool: &str) -> bool {
        self.tools.contains_key(tool) || self.leads_to(tool).is_some()
    }

    /// The facade that a name leads to which is not published: its own name, or that of a former tool.
    pub fn leads_to<'a>(&'a self, tool: &'a str) -> Option<&'a str> {
        let former = self.former.get(tool).map(String::as_str);
        if self.slots.contains_key(tool) { Some(tool) } else { former }
    }

    /// What a call to a tool is told whose facade is published in another way now.
    pub fn no_longer_published(&self, tool: &str, facade: &str, rights: &Rights) -> Option<Envelope> {
        if !matches!(self.slots.get(facade), Some(Slot::Serving(_))) {
            return None;
        }
        let own = |published: &Tool| published.facade == facade && self.view(published, rights).is_some();
        let now = self.tools.iter().filter(|(_, published)| own(published));
        let now: Vec<&str> = now.map(|(name, _)| name.as_str()).collect();
        let said = format!("the tool `{tool}` is no longer published");
        let failure = Failure::new(code::UNAVAILABLE, said);
        let failure = failure.hint(format!("`{facade}` is published as: {}", now.join(", ")));
        Some(Envelope::new(Command { key: "action", name: None }, Err(failure)))
    }

    /// The call that should come next as a client has to make it: under the tool that shows the action.
    pub fn address(&self, next: &Next) -> Value {
        let Some(Slot::Serving(entry)) = self.slots.get(&next.facade) else { return next.to_json() };
        let takes = |tool: &Tool| entry.contract.takes(&next.action, tool.view());
        let own = self.tools.iter().filter(|(_, tool)| tool.facade == next.facade);
        let Some((name, is_meant)) = own.filter_map(|(name, tool)| Some((name, takes(tool)?))).next() else {
            return next.to_json();
        };
        let action = if is_meant { String::new() } else { next.action.clone() };
        Next { facade: name.clone(), action, ..next.clone() }.to_json()
    }
}

/// Read without locks; changed by the reloader alone.
pub struct Catalog {
    current: ArcSwap<Snapshot>,
    /// Decides what of the facades is published.
    publisher: Publisher,
    /// The generation now published; who publishes lists waits for it to change.
    changes: watch::Sender<u64>,
    /// Becomes true when the first admission has ended, however it ended. Sent anew with every swap.
    admitted: watch::Sender<bool>,
}

impl Default for Catalog {
    fn default() -> Self {
        Self::new(Publisher::default())
    }
}

impl Catalog {
    /// An empty catalog, published by these rules.
    pub fn new(publisher: Publisher) -> Self {
        Self {
            current: ArcSwap::default(),
            publisher,
            changes: watch::Sender::new(0),
            admitted: watch::Sender::new(false),
        }
    }

    /// The facades at this moment. A call keeps the snapshot's entry that it began with.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// What stands under a name now.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.current.load().slots.get(name).cloned()
    }

    /// Swaps in new slots at once. Listeners hear of it only if what is published changed.
    pub fn swap(&self, slots: BTreeMap<String, Slot>) {
        let old = self.current.load();
        let shown = self.publisher.shown(&slots);
        let tools = publish::tools(&shown);
        let hidden: BTreeSet<(String, String)> = shown
            .iter()
            .flat_map(|shown| shown.hidden.iter().map(|tool| (shown.facade.clone(), tool.clone())))
            .collect();
        for (facade, tool) in hidden.difference(&old.hidden) {
            tracing::warn!(facade, "the tool `{tool}` {}", publish::HIDDEN);
        }
        for (_, tool) in tools.iter().filter(|(name, tool)| old.tools.get(*name) != Some(*tool)) {
            lint::log(tool);
        }
        let changed = old.tools != tools;
        let generation = old.generation + u64::from(changed);
        let mut former = old.former.clone();
        former.extend(old.tools.iter().map(|(name, tool)| (name.clone(), tool.facade.clone())));
        former.retain(|name, _| !tools.contains_key(name));
        drop(old);
        self.current.store(Arc::new(Snapshot { slots, tools, hidden, former, generation }));
        if changed {
            self.changes.send_replace(generation);
        }
        self.admitted.send_modify(|_| {});
    }

    /// Changes of the published list from now on.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The first admission has ended.
    pub fn admit(&self) {
        self.admitted.send_replace(true);
    }

    /// Whether the first admission has ended: what is missing now is not there.
    pub fn is_admitted(&self) -> bool {
        *self.admitted.borrow()
    }

    /// Waits for the first admission, but not longer than a client waits for a list. Whether it ended in time.
    pub async fn admitted(&self) -> bool {
        let mut admitted = self.admitted.subscribe();
        tokio::time::timeout(PATIENCE, admitted.wait_for(|done| *done)).await.is_ok()
    }

    /// Waits until a tool is there, or the first admission has ended without it, but not longer than a client waits.
    pub async fn arrived(&self, tool: &str) {
        let mut admitted = self.admitted.subscribe();
        let arrived = admitted.wait_for(|done| *done || self.snapshot().knows(tool));
        let _ = tokio::time::timeout(PATIENCE, arrived).await;
    }

    /// Whether nothing serves under a name.
    pub fn lacks(&self, name: &str) -> bool {
        !matches!(self.slot(name), Some(Slot::Serving(_)))
    }

    /// Waits for the end of the first admission, however long it takes.
    pub async fn complete(&self) {
        let _ = self.admitted.subscribe().wait_for(|done| *done).await;
    }

    /// Waits until something stands under a name, or the first admission has ended without it, however long it takes.
    pub async fn settled(&self, name: &str) {
        let mut admitted = self.admitted.subscribe();
        let _ = admitted.wait_for(|done| *done || self.slot(name).is_some()).await;
    }
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
    async fn who_waits_for_one_name_waits_for_no_other() {
        let slots = |name: &str| BTreeMap::from([(name.to_owned(), Slot::Unavailable("broken".to_owned()))]);
        let catalog = Catalog::default();
        type Waits<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;
        let mut waits: [Waits<'_>; 2] =
            [Box::pin(catalog.settled("notes")), Box::pin(catalog.arrived("notes"))];
        let mut context = Context::from_waker(Waker::noop());
        let mut over = || waits.each_mut().map(|waits| waits.as_mut().poll(&mut context).is_ready());
        assert_eq!(over(), [false, false]);
        catalog.swap(slots("other"));
        assert_eq!(over(), [false, false]);
        catalog.swap(slots("notes"));
        assert_eq!(over(), [true, true]);

        let catalog = Catalog::default();
        let waits = (catalog.settled("notes"), catalog.arrived("notes"));
        catalog.admit();
        tokio::join!(waits.0, waits.1);
    }
}
