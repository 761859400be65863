//! An immutable set of facades, with the tools that they are published as.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use loggia_facade::{Action, Command, Envelope, Failure, Next, code};
use loggia_schema::{ToolView, nearest};
use serde_json::Value;

use super::{
    entry::{CatalogEntry, CatalogSlot},
    exposure::CatalogTool,
};
use crate::{access::CallerRights, failures::facade_unavailable};

/// Facades and tools at one moment, ordered by name.
#[derive(Clone, Default)]
pub struct CatalogSnapshot {
    /// Slots by the name of the facade.
    pub slots: BTreeMap<String, CatalogSlot>,
    /// Tools by name, listed or not. Most facades are one tool of the same name.
    pub tools: BTreeMap<String, CatalogTool>,
    /// Facades and names of tools that are hidden because another has the name.
    pub(super) hidden: BTreeSet<(String, String)>,
    /// Tools that were published before, with their facades: clients keep stale lists.
    pub(super) former: BTreeMap<String, String>,
    /// Increases with every change of the published list.
    pub generation: u64,
}

impl CatalogSnapshot {
    /// Creates a snapshot without tools.
    pub fn from_slots(slots: BTreeMap<String, CatalogSlot>) -> Self {
        Self { slots, ..Self::default() }
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

    /// Returns true if clients see a tool of this facade in their list.
    pub fn is_listed(&self, facade: &str) -> bool {
        self.tools.values().any(|tool| tool.listed && tool.facade == facade)
    }

    /// Iterates over the tools that clients see in their lists, in the order of their names.
    pub fn listed_tools(&self) -> impl Iterator<Item = (&String, &CatalogTool)> {
        self.tools.iter().filter(|(_, tool)| tool.listed)
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

    /// Lists the tools that a caller with these rights sees, for messages.
    pub fn tool_names(&self, rights: &CallerRights) -> String {
        let visible = self.listed_tools().filter(|(_, tool)| self.visible_view(tool, rights).is_some());
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

    /// Returns true if a tool of this name is or was published.
    pub fn has_tool(&self, tool: &str) -> bool {
        self.tools.contains_key(tool) || self.facade_of(tool).is_some()
    }

    /// Finds the facade of a name that is not a published tool: its own name, or that of a former tool.
    pub fn facade_of<'a>(&'a self, tool: &'a str) -> Option<&'a str> {
        let former = self.former.get(tool).map(String::as_str);
        if self.slots.contains_key(tool) { Some(tool) } else { former }
    }

    /// Answers a call to a former tool of a facade that is now published differently.
    pub fn no_longer_published(&self, tool: &str, facade: &str, rights: &CallerRights) -> Option<Envelope> {
        if !matches!(self.slots.get(facade), Some(CatalogSlot::Serving(_))) {
            return None;
        }
        let own = |published: &CatalogTool| {
            published.facade == facade && self.visible_view(published, rights).is_some()
        };
        let now = self.tools.iter().filter(|(_, published)| own(published));
        let now: Vec<&str> = now.map(|(name, _)| name.as_str()).collect();
        let message = format!("the tool `{tool}` is no longer published");
        let failure = Failure::new(code::UNAVAILABLE, message);
        let failure = failure.hint(format!("`{facade}` is published as: {}", now.join(", ")));
        Some(Envelope::new(Command { key: "action", name: None }, Err(failure)))
    }

    /// Renders a follow-up call as a client has to make it: under the tool that publishes the action.
    pub fn address_next(&self, next: &Next) -> Value {
        let Some(CatalogSlot::Serving(entry)) = self.slots.get(&next.facade) else { return next.to_json() };
        let takes = |tool: &CatalogTool| entry.contract.offers(&next.action, tool.view());
        let own = self.tools.iter().filter(|(_, tool)| tool.facade == next.facade);
        let Some((name, is_meant)) = own.filter_map(|(name, tool)| Some((name, takes(tool)?))).next() else {
            return next.to_json();
        };
        let action = if is_meant { String::new() } else { next.action.clone() };
        Next { facade: name.clone(), action, ..next.clone() }.to_json()
    }
}
