//! The actions that one MCP tool offers to one caller.
//!
//! Most facades are one tool. A facade can be published as several, so that a client's "always allow" for reading does
//! not allow writing, or for clients with tool search; each tool accepts only its own actions. For a caller with fewer
//! rights, a tool offers fewer actions under the same name.

use crate::model::host_action::HostAction;

/// The actions that one MCP tool offers to one caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The tool's actions, one bit each in the order of the surface. A facade has at most 64.
    actions: u64,
    /// The host actions that it accepts beside `describe`, one bit each.
    host_actions: u8,
    /// The target of a call that names no action.
    pub(crate) default_target: Option<CommandTarget>,
    /// Actions and names of the facade's other tools.
    pub(crate) other_tools: Vec<(u64, String)>,
    /// The actions that the caller may not call, whichever tool offers them to others.
    withheld: u64,
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

const _: () = assert!(crate::model::limits::ACTIONS <= 64);

impl View {
    /// All actions, as other facades and the operator see them.
    pub fn whole() -> Self {
        Self {
            actions: u64::MAX,
            host_actions: u8::MAX,
            default_target: None,
            other_tools: Vec::new(),
            withheld: 0,
        }
    }

    /// A view of these actions.
    pub(crate) fn new(
        actions: u64,
        default_target: Option<CommandTarget>,
        others: Vec<(u64, String)>,
    ) -> Self {
        Self { actions, host_actions: 0, default_target, other_tools: others, withheld: 0 }
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

    /// Removes the `withheld` actions, of `all` actions of the facade; none if nothing is left.
    pub(crate) fn without(&self, withheld: u64, all: u64, long_running: u64, batch: bool) -> Option<Self> {
        // A tool that is a host action manages runs.
        let is_of_host = self.actions & all == 0;
        let left = self.actions & all & !withheld;
        let runs =
            (batch && left != 0) || long_running & !withheld & if is_of_host { all } else { left } != 0;
        if left == 0 && !(is_of_host && runs) {
            return None;
        }
        let is_withheld =
            |target: &CommandTarget| matches!(target, CommandTarget::Action(index) if bit(withheld, *index));
        let others = self.other_tools.iter().map(|(actions, tool)| (actions & !withheld, tool.clone()));
        Some(Self {
            actions: self.actions & !withheld,
            host_actions: if runs { self.host_actions } else { self.host_actions & DESCRIBE },
            default_target: self.default_target.filter(|target| !is_withheld(target)),
            other_tools: others.filter(|(actions, _)| *actions != 0).collect(),
            withheld: self.withheld | withheld,
        })
    }

    /// The other tool that accepts an action.
    pub(crate) fn other_tool(&self, action: usize) -> Option<&str> {
        let other = self.other_tools.iter().find(|(actions, _)| bit(*actions, action));
        other.map(|(_, tool)| tool.as_str())
    }

    /// Whether the tool is a single action without `describe`, so that every call is for it.
    pub(crate) fn is_single_action(&self) -> bool {
        self.default_target.is_some() && self.actions.count_ones() <= 1 && self.host_actions & DESCRIBE == 0
    }

    /// Whether it offers the action at this index.
    pub fn shows(&self, action: usize) -> bool {
        bit(self.actions, action)
    }

    /// Whether the caller may not call the action at this index.
    pub(crate) fn withholds(&self, action: usize) -> bool {
        bit(self.withheld, action)
    }
}

const DESCRIBE: u8 = 1 << HostAction::Describe as u8;

fn bit(actions: u64, index: usize) -> bool {
    u32::try_from(index).ok().and_then(|index| actions.checked_shr(index)).is_some_and(|bits| bits & 1 == 1)
}
