//! An immutable set of facades, with the tools that they are published as.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use loggia_facade::{Action, Command, Envelope, Failure, Next, code};
use loggia_schema::{ToolView, nearest};
use serde_json::Value;

use super::{
    entry::{CatalogEntry, CatalogSlot},
    exposure::CatalogTool,
    publish::ToolPublisher,
    tool_list::ToolList,
};
use crate::{
    access::{CallerRights, ListId},
    failures::facade_unavailable,
};

/// Facades and tools at one moment, ordered by name.
#[derive(Clone)]
pub struct CatalogSnapshot {
    /// Slots by the name of the facade.
    pub slots: BTreeMap<String, CatalogSlot>,
    /// The publisher of each list.
    pub(super) publishers: Arc<[ToolPublisher]>,
    /// The lists, each published when it is first needed.
    pub(super) lists: Box<[OnceLock<ToolList>]>,
    /// Tools that were published before, with their facades: clients keep stale lists.
    pub(super) former: BTreeMap<String, String>,
    /// Increases with every change of a published list or of a prompt.
    pub generation: u64,
}

impl Default for CatalogSnapshot {
    fn default() -> Self {
        Self::from_slots(BTreeMap::new())
    }
}

impl CatalogSnapshot {
    /// Creates a snapshot whose tools are published by default settings.
    pub fn from_slots(slots: BTreeMap<String, CatalogSlot>) -> Self {
        Self::published_by(slots, Arc::new([ToolPublisher::default()]))
    }

    /// Creates a snapshot with a list of each publisher.
    pub(super) fn published_by(
        slots: BTreeMap<String, CatalogSlot>,
        publishers: Arc<[ToolPublisher]>,
    ) -> Self {
        let lists = publishers.iter().map(|_| OnceLock::new()).collect();
        Self { slots, publishers, lists, former: BTreeMap::new(), generation: 0 }
    }

    /// Returns a list, and publishes it at its first use. An unknown id names the default list.
    pub fn list(&self, id: ListId) -> &ToolList {
        static EMPTY: OnceLock<ToolList> = OnceLock::new();
        let known = Some(usize::from(id.0)).filter(|at| *at < self.lists.len()).unwrap_or_default();
        match (self.lists.get(known), self.publishers.get(known)) {
            (Some(list), Some(publisher)) => {
                list.get_or_init(|| ToolList::new(&publisher.publish(&self.slots)))
            }
            _ => EMPTY.get_or_init(ToolList::default),
        }
    }

    /// Returns the default list.
    pub fn default_list(&self) -> &ToolList {
        self.list(ListId::default())
    }

    /// Finds an action of a facade.
    ///
    /// # Errors
    ///
    /// If the facade does not answer calls, or has no such action.
    pub fn lookup(&self, facade: &str, action: &str) -> Result<Action, Failure> {
        match self.slots.get(facade) {
            Some(CatalogSlot::Serving(entry)) => entry.lookup(action),
            _ => Err(self.not_serving(facade)),
        }
    }

    /// Explains why a facade does not answer calls.
    pub fn not_serving(&self, facade: &str) -> Failure {
        let reason = match self.slots.get(facade) {
            Some(CatalogSlot::Unavailable(reason)) => reason,
            _ => "it is not served now",
        };
        facade_unavailable(format_args!("{facade:.80}"), reason)
    }

    /// Finds an action for a step of a workflow. The failure is for the operator and suggests the nearest name.
    ///
    /// # Errors
    ///
    /// If the facade is the workflow's own, does not answer calls, or has no such action.
    pub fn lookup_for_workflow(&self, own: &str, facade: &str, action: &str) -> Result<Action, Failure> {
        if facade == own {
            let message =
                format!("`{facade:.80}` is this file itself; a workflow calls those of other files alone");
            return Err(Failure::new(code::DENIED, message));
        }
        self.lookup(facade, action).map_err(|failure| {
            let names = self.slots.keys().map(String::as_str).filter(|name| *name != own);
            match nearest(facade, names).filter(|_| !self.slots.contains_key(facade)) {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure,
            }
        })
    }

    /// Iterates over the entries that answer calls.
    pub fn serving(&self) -> impl Iterator<Item = &Arc<CatalogEntry>> {
        self.slots.values().filter_map(|slot| match slot {
            CatalogSlot::Serving(entry) => Some(entry),
            CatalogSlot::Unavailable(_) => None,
        })
    }

    /// Names the tools of a list that a caller with these rights sees, for messages.
    pub fn tool_names(&self, list: ListId, rights: &CallerRights) -> String {
        let visible = self.list(list).listed().filter(|(_, tool)| self.visible_view(tool, rights).is_some());
        let names: Vec<&str> = visible.map(|(name, _)| name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    /// Narrows a tool's view to these rights. `None` if the tool does not exist for the caller.
    pub fn visible_view<'a>(
        &'a self,
        tool: &'a CatalogTool,
        rights: &CallerRights,
    ) -> Option<Cow<'a, ToolView>> {
        if rights.are_unrestricted() {
            return Some(Cow::Borrowed(tool.view()));
        }
        match self.slots.get(&tool.facade) {
            Some(CatalogSlot::Serving(entry)) => rights.narrow(&entry.contract, tool.view()),
            _ => None,
        }
    }

    /// Returns true if a facade exists for a caller with these rights.
    pub fn reaches(&self, facade: &str, rights: &CallerRights) -> bool {
        rights.reaches(facade)
            && match self.slots.get(facade) {
                Some(CatalogSlot::Serving(entry)) => {
                    rights.narrow(&entry.contract, &ToolView::all_actions()).is_some()
                }
                _ => true,
            }
    }

    /// Returns true if a list has a tool of this name, or if one was published.
    pub fn has_tool(&self, list: ListId, tool: &str) -> bool {
        self.list(list).tools.contains_key(tool) || self.facade_of(list, tool).is_some()
    }

    /// Finds the facade of a name that is not a tool of the list: its own name, or that of a former tool. `None` if it is outside
    /// of what the list shows.
    pub fn facade_of<'a>(&'a self, list: ListId, tool: &'a str) -> Option<&'a str> {
        let former = self.former.get(tool).map(String::as_str);
        let facade = if self.slots.contains_key(tool) { Some(tool) } else { former };
        facade.filter(|facade| self.scope(list).is_none_or(|scope| scope.reaches(facade)))
    }

    /// Returns what a list shows, if it does not show everything.
    pub(super) fn scope(&self, list: ListId) -> Option<&CallerRights> {
        self.publishers.get(usize::from(list.0))?.scope.as_ref()
    }

    /// Answers a call to a former tool of a facade that is now published differently.
    pub fn no_longer_published(
        &self,
        list: ListId,
        (tool, facade): (&str, &str),
        rights: &CallerRights,
    ) -> Option<Envelope> {
        if !matches!(self.slots.get(facade), Some(CatalogSlot::Serving(_))) {
            return None;
        }
        let own = |published: &CatalogTool| {
            published.facade == facade && self.visible_view(published, rights).is_some()
        };
        let now = self.list(list).tools.iter().filter(|(_, published)| own(published));
        let now: Vec<&str> = now.map(|(name, _)| name.as_str()).collect();
        let message = format!("the tool `{tool}` is no longer published");
        let failure = Failure::new(code::UNAVAILABLE, message);
        let failure = failure.hint(format!("`{facade}` is published as: {}", now.join(", ")));
        Some(Envelope::new(Command { key: "action", name: None }, Err(failure)))
    }

    /// Renders a follow-up call as a client of this list has to make it: under the tool that publishes the action.
    pub fn address_next(&self, list: ListId, next: &Next) -> Value {
        let Some(CatalogSlot::Serving(entry)) = self.slots.get(&next.facade) else { return next.to_json() };
        let takes = |tool: &CatalogTool| entry.contract.offers(&next.action, tool.view());
        let own = self.list(list).tools.iter().filter(|(_, tool)| tool.facade == next.facade);
        let Some((name, is_meant)) = own.filter_map(|(name, tool)| Some((name, takes(tool)?))).next() else {
            return next.to_json();
        };
        let action = if is_meant { String::new() } else { next.action.clone() };
        Next { facade: name.clone(), action, ..next.clone() }.to_json()
    }
}
