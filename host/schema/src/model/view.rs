//! The actions that one MCP tool offers to one caller.
//!
//! Most facades are one tool. A facade can be published as several, so that a client's "always allow" for reading does
//! not allow writing, or for clients with tool search; each tool accepts only its own actions. For a caller with fewer
//! rights, a tool offers fewer actions under the same name.

use std::sync::Arc;

use crate::model::{action_set::ActionSet, host_action::HostAction};

/// The actions that one MCP tool offers to one caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolView {
    /// The tool's actions.
    actions: ActionSet,
    /// The host actions that it accepts beside `describe`, one bit each.
    host_actions: u8,
    /// The target of a call that names no action.
    pub(crate) default_target: Option<CommandTarget>,
    /// Actions and names of the facade's tools, possibly including this one. Shared by the views of all of them, or one
    /// tool per action would take quadratic memory.
    pub(crate) tools: Arc<[(ActionSet, String)]>,
    /// The actions that the caller may not call, whichever tool offers them to others.
    withheld: ActionSet,
    /// Those of them that do not exist for the caller's client.
    hidden: ActionSet,
}

/// The target of a command. A tool that is one action, of the facade (`notes_add`) or the host (`notes_run_status`),
/// has a fixed target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandTarget {
    /// An action of the facade, by index.
    Action(usize),
    /// A host action, and whether it includes the trace.
    Host(HostAction, bool),
}

impl ToolView {
    /// All actions, as other facades and the operator see them.
    pub fn all_actions() -> Self {
        Self {
            actions: ActionSet::ALL,
            host_actions: u8::MAX,
            default_target: None,
            tools: Arc::default(),
            withheld: ActionSet::EMPTY,
            hidden: ActionSet::EMPTY,
        }
    }

    /// A view of these actions.
    pub(crate) fn new(
        actions: ActionSet,
        default_target: Option<CommandTarget>,
        tools: Arc<[(ActionSet, String)]>,
    ) -> Self {
        let (withheld, hidden) = (ActionSet::EMPTY, ActionSet::EMPTY);
        Self { actions, host_actions: 0, default_target, tools, withheld, hidden }
    }

    /// Adds host actions.
    pub(crate) fn with_host_actions(mut self, added: &[HostAction]) -> Self {
        self.host_actions = added.iter().fold(0, |bits, host_action| bits | 1 << *host_action as u8);
        self
    }

    /// Whether it accepts a host action. Every view accepts `describe`.
    pub(crate) fn has_host_action(&self, host_action: HostAction) -> bool {
        host_action == HostAction::Describe || self.host_actions >> host_action as u8 & 1 == 1
    }

    /// Removes the `withheld` actions of a facade; none if nothing is left. `all` are its actions, `batch` tells whether
    /// it has batches.
    pub(crate) fn without(
        &self,
        withheld: &ActionSet,
        all: &ActionSet,
        detachable: &ActionSet,
        batch: bool,
    ) -> Option<Self> {
        let own = self.actions.intersection(all);
        let left = own.difference(withheld);
        // A tool that is a host action manages runs, of any action.
        let is_host_tool = own.is_empty();
        let may_run =
            if is_host_tool { detachable.difference(withheld) } else { detachable.intersection(&left) };
        let has_runs = (batch && !left.is_empty()) || !may_run.is_empty();
        if left.is_empty() && !(is_host_tool && has_runs) {
            return None;
        }
        let is_withheld = |target: &CommandTarget| matches!(target, CommandTarget::Action(index) if withheld.contains(*index));
        Some(Self {
            actions: self.actions.difference(withheld),
            host_actions: if has_runs { self.host_actions } else { self.host_actions & DESCRIBE },
            default_target: self.default_target.filter(|target| !is_withheld(target)),
            tools: Arc::clone(&self.tools),
            withheld: self.withheld.union(withheld),
            hidden: self.hidden.clone(),
        })
    }

    /// Hides the actions that were removed: calls of them are not denied, but unknown.
    #[must_use]
    pub fn hide_withheld(self) -> Self {
        Self { hidden: self.withheld.clone(), ..self }
    }

    /// Whether the action at this index does not exist for the caller's client.
    pub(crate) fn hides(&self, action: usize) -> bool {
        self.hidden.contains(action)
    }

    /// The other tool that accepts an action.
    pub(crate) fn other_tool(&self, action: usize) -> Option<&str> {
        let other = self.tools.iter().find(|(actions, _)| actions.contains(action));
        other.map(|(_, tool)| tool.as_str())
    }

    /// Whether the tool is a single action without `describe`, so that every call is for it.
    pub(crate) fn is_single_action(&self) -> bool {
        self.default_target.is_some() && self.actions.len() <= 1 && self.host_actions & DESCRIBE == 0
    }

    /// The names of the other tools, each with the actions that it offers the caller and this tool does not.
    pub(crate) fn other_tools(&self) -> impl Iterator<Item = (&str, ActionSet)> {
        let others = self.tools.iter().map(|(actions, tool)| {
            (tool.as_str(), actions.difference(&self.actions).difference(&self.withheld))
        });
        others.filter(|(_, actions)| !actions.is_empty())
    }

    /// The actions of a facade that it offers, if the facade has so many.
    pub(crate) fn count(&self, all: &ActionSet) -> usize {
        self.actions.intersection(all).len()
    }

    /// Whether it offers the action at this index.
    pub fn shows(&self, action: usize) -> bool {
        self.actions.contains(action)
    }

    /// Whether the caller may not call the action at this index.
    pub(crate) fn withholds(&self, action: usize) -> bool {
        self.withheld.contains(action)
    }
}

const DESCRIBE: u8 = 1 << HostAction::Describe as u8;
