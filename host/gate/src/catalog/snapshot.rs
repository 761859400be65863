//! The facades at one moment.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use loggia_facade::{Action, Command, Envelope, Failure, Next, code};
use loggia_schema::{ToolView, nearest};
use serde_json::Value;

use super::{
    entry::{Entry, Slot},
    exposure::Tool,
};
use crate::access::Rights;

/// The facades at one moment. In the order of their names.
#[derive(Clone, Default)]
pub struct Snapshot {
    /// By the facade's name.
    pub slots: BTreeMap<String, Slot>,
    /// What is published, by the tool's name. Most facades are one tool of the same name.
    pub tools: BTreeMap<String, Tool>,
    /// Tools that are not published since their names are others', with their facades.
    pub(super) hidden: BTreeSet<(String, String)>,
    /// Tools that were published before, and whose they were: clients keep stale lists.
    pub(super) former: BTreeMap<String, String>,
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
    pub fn view<'a>(&'a self, tool: &'a Tool, rights: &Rights) -> Option<Cow<'a, ToolView>> {
        if rights.are_all() {
            return Some(Cow::Borrowed(tool.view()));
        }
        match self.slots.get(&tool.facade) {
            Some(Slot::Serving(entry)) => rights.narrow(&entry.contract, tool.view()),
            _ => None,
        }
    }

    /// Whether a facade is there for a caller of these rights.
    pub fn reaches(&self, facade: &str, rights: &Rights) -> bool {
        rights.reach(facade)
            && match self.slots.get(facade) {
                Some(Slot::Serving(entry)) => rights.narrow(&entry.contract, &ToolView::all_actions()).is_some(),
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
        let takes = |tool: &Tool| entry.contract.offers(&next.action, tool.view());
        let own = self.tools.iter().filter(|(_, tool)| tool.facade == next.facade);
        let Some((name, is_meant)) = own.filter_map(|(name, tool)| Some((name, takes(tool)?))).next() else {
            return next.to_json();
        };
        let action = if is_meant { String::new() } else { next.action.clone() };
        Next { facade: name.clone(), action, ..next.clone() }.to_json()
    }
}
