//! Which of a facade's actions one MCP tool shows.
//!
//! Most facades are one tool. Where a client's approvals or its tool search ask for it, one facade is published as
//! several; each of them then takes only its own actions, or an "always allow" for reading would allow writing. And a
//! caller who may not call all of a facade's actions sees a narrower one of the same name.

use crate::model::host_action::HostAction;

/// Which of a facade's actions one MCP tool shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Bit by bit, in the order of the surface: a facade has at most 64 actions.
    actions: u64,
    /// The host's own actions that it takes beside `describe`, bit by bit.
    host_actions: u8,
    /// The action that is meant where none is named.
    pub(crate) default_target: Option<CommandTarget>,
    /// The other tools of the facade: which actions, under which name.
    pub(crate) other_tools: Vec<(u64, String)>,
    /// The actions that its caller may not call, bit by bit; whichever tool shows them to others.
    withheld: u64,
}

/// What a command names; or what is meant where there is none. A tool that is a single action, of the facade's or of
/// the host's (`notes_add`, `notes_run_status`), always means that one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandTarget {
    /// An action of the facade.
    Action(usize),
    /// An action of the host's, and whether it is to bring its trace.
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

    /// These actions, by their places in the surface.
    pub(crate) fn new(actions: u64, meant: Option<CommandTarget>, others: Vec<(u64, String)>) -> Self {
        Self { actions, host_actions: 0, default_target: meant, other_tools: others, withheld: 0 }
    }

    /// With these actions of the host's.
    pub(crate) fn with_host_actions(mut self, own: &[HostAction]) -> Self {
        self.host_actions = own.iter().fold(0, |bits, own| bits | 1 << *own as u8);
        self
    }

    /// Whether it takes this action of the host's. To be told of actions is everybody's.
    pub(crate) fn has_host_action(&self, own: HostAction) -> bool {
        own == HostAction::Describe || self.host_actions >> own as u8 & 1 == 1
    }

    /// What is left of it without the `withheld` actions, of a facade that has `all` of these; none where nothing is.
    pub(crate) fn without(&self, withheld: u64, all: u64, long_running: u64, batch: bool) -> Option<Self> {
        // A tool that is one of the host's actions is there for runs.
        let is_of_host = self.actions & all == 0;
        let left = self.actions & all & !withheld;
        let runs =
            (batch && left != 0) || long_running & !withheld & if is_of_host { all } else { left } != 0;
        if left == 0 && !(is_of_host && runs) {
            return None;
        }
        let is_withheld =
            |meant: &CommandTarget| matches!(meant, CommandTarget::Action(index) if bit(withheld, *index));
        let others = self.other_tools.iter().map(|(actions, tool)| (actions & !withheld, tool.clone()));
        Some(Self {
            actions: self.actions & !withheld,
            host_actions: if runs { self.host_actions } else { self.host_actions & DESCRIBE },
            default_target: self.default_target.filter(|meant| !is_withheld(meant)),
            other_tools: others.filter(|(actions, _)| *actions != 0).collect(),
            withheld: self.withheld | withheld,
        })
    }

    /// The other tool that takes an action.
    pub(crate) fn other_tool(&self, action: usize) -> Option<&str> {
        let other = self.other_tools.iter().find(|(actions, _)| bit(*actions, action));
        other.map(|(_, tool)| tool.as_str())
    }

    /// Whether it is one action, which is meant however the tool is called: there is no `describe` beside it.
    pub(crate) fn is_single_action(&self) -> bool {
        self.default_target.is_some() && self.actions.count_ones() <= 1 && self.host_actions & DESCRIBE == 0
    }

    /// Whether it shows the action at this place in the surface.
    pub fn shows(&self, action: usize) -> bool {
        bit(self.actions, action)
    }

    /// Whether its caller may not call the action at this place in the surface.
    pub(crate) fn withholds(&self, action: usize) -> bool {
        bit(self.withheld, action)
    }
}

const DESCRIBE: u8 = 1 << HostAction::Describe as u8;

fn bit(actions: u64, index: usize) -> bool {
    u32::try_from(index).ok().and_then(|index| actions.checked_shr(index)).is_some_and(|bits| bits & 1 == 1)
}
