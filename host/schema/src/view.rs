//! Which of a facade's actions one MCP tool shows.
//!
//! Most facades are one tool. Where a client's approvals or its tool search ask for it, one facade is published as
//! several; each of them then takes only its own actions, or an "always allow" for reading would allow writing. And a
//! caller who may not call all of a facade's actions sees a narrower one of the same name.

use loggia_facade::{Action, Failure, code};
use serde_json::json;

use crate::{Contract, own::Own, show};

/// Which of a facade's actions one MCP tool shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Bit by bit, in the order of the surface: a facade has at most 64 actions.
    actions: u64,
    /// The host's own actions that it takes beside `describe`, bit by bit.
    own: u8,
    /// The action that is meant where none is named.
    pub(crate) meant: Option<Meant>,
    /// The other tools of the facade: which actions, under which name.
    pub(crate) others: Vec<(u64, String)>,
    /// The actions that its caller may not call, bit by bit; whichever tool shows them to others.
    withheld: u64,
}

/// What a command names; or what is meant where there is none. A tool that is a single action, of the facade's or of
/// the host's (`notes_add`, `notes_run_status`), always means that one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meant {
    /// An action of the facade.
    Action(usize),
    /// An action of the host's, and whether it is to bring its trace.
    Own(Own, bool),
}

const _: () = assert!(crate::limits::ACTIONS <= 64);

impl View {
    /// All actions, as other facades and the operator see them.
    pub fn whole() -> Self {
        Self { actions: u64::MAX, own: u8::MAX, meant: None, others: Vec::new(), withheld: 0 }
    }

    /// These actions, by their places in the surface.
    pub(crate) fn of(actions: u64, meant: Option<Meant>, others: Vec<(u64, String)>) -> Self {
        Self { actions, own: 0, meant, others, withheld: 0 }
    }

    /// With these actions of the host's.
    pub(crate) fn with_own(mut self, own: &[Own]) -> Self {
        self.own = own.iter().fold(0, |bits, own| bits | 1 << *own as u8);
        self
    }

    /// Whether it takes this action of the host's. To be told of actions is everybody's.
    pub(crate) fn has(&self, own: Own) -> bool {
        own == Own::Describe || self.own >> own as u8 & 1 == 1
    }

    /// Whether it is one action, which is meant however the tool is called: there is no `describe` beside it.
    fn is_single(&self) -> bool {
        self.meant.is_some() && self.actions.count_ones() <= 1 && self.own & DESCRIBE == 0
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

const DESCRIBE: u8 = 1 << Own::Describe as u8;

fn bit(actions: u64, index: usize) -> bool {
    u32::try_from(index).ok().and_then(|index| actions.checked_shr(index)).is_some_and(|bits| bits & 1 == 1)
}

impl Contract {
    /// Whether a tool of this view takes an action, by its own name; and if so, whether the tool means it without being
    /// told.
    pub fn takes(&self, action: &str, view: &View) -> Option<bool> {
        let named = match self.index(action) {
            Some(index) => Some(Meant::Action(index)).filter(|_| view.shows(index)),
            None => self.own_in(action, view).map(|(own, trace)| Meant::Own(own, trace)),
        };
        match (named, view.meant) {
            (None, _) => None,
            (named, Some(meant)) if view.is_single() => (named == Some(meant)).then_some(true),
            (named, meant) => Some(named == meant),
        }
    }

    /// Whether a run of this action may be ended through a tool of this view: through one that takes the action, or is
    /// there for nothing else. Else a tool that only reads would end what writes.
    pub fn may_end(&self, action: &str, view: &View) -> bool {
        matches!(view.meant, Some(Meant::Own(Own::RunCancel, _))) || self.takes(action, view).is_some()
    }

    /// A tool of this view for a caller who may call only some of the facade's actions; none where nothing is left of it.
    ///
    /// It never means another action than the whole tool does: who calls it without naming one would else be answered by
    /// whichever is left.
    pub fn narrow(&self, view: &View, allows: impl Fn(&str) -> bool) -> Option<View> {
        let bits = |holds: &dyn Fn(&Action) -> bool| {
            let actions = self.surface().actions.iter().enumerate();
            actions.filter(|(_, action)| holds(action)).fold(0u64, |bits, (index, _)| bits | 1 << index)
        };
        let withheld = bits(&|action| !allows(&action.name));
        if withheld == 0 {
            return Some(view.clone());
        }
        let (all, long) = (bits(&|_| true), bits(&|action| action.long_running));
        // A tool that is one of the host's actions is there for runs.
        let is_of_host = view.actions & all == 0;
        let left = view.actions & all & !withheld;
        let runs =
            (self.terms.batch && left != 0) || long & !withheld & if is_of_host { all } else { left } != 0;
        if left == 0 && !(is_of_host && runs) {
            return None;
        }
        let is_withheld = |meant: &Meant| matches!(meant, Meant::Action(index) if bit(withheld, *index));
        let others = view.others.iter().map(|(actions, tool)| (actions & !withheld, tool.clone()));
        Some(View {
            actions: view.actions & !withheld,
            own: if runs { view.own } else { view.own & DESCRIBE },
            meant: view.meant.filter(|meant| !is_withheld(meant)),
            others: others.filter(|(actions, _)| *actions != 0).collect(),
            withheld: view.withheld | withheld,
        })
    }

    /// The action at this place in the surface, if a tool of this view takes it; else why not.
    pub(crate) fn in_view(&self, action: usize, view: &View) -> Result<usize, Failure> {
        match action {
            _ if view.shows(action) => Ok(action),
            _ if view.withholds(action) => Err(self.withheld(action, view)),
            _ => Err(self.elsewhere(action, view)),
        }
    }

    /// Refuses an action that the caller may not call.
    fn withheld(&self, action: usize, view: &View) -> Failure {
        let scope = format!("{}:{}", self.surface().name, self.surface().actions[action].name);
        let said = format!("access denied: the caller's scopes do not hold `{scope}`");
        let failure = Failure::new(code::DENIED, format!("{said}. {}", self.available(view)))
            .hint(format!("the token needs the scope `{scope}`"));
        Failure { details: Some(json!({ "scope": scope })), ..failure }
    }

    /// The host's action of this name, if a tool of this view takes it, and whether it was asked for with its trace.
    pub(crate) fn own_in(&self, name: &str, view: &View) -> Option<(Own, bool)> {
        self.find_own(name).filter(|(own, _)| view.has(*own))
    }

    /// Refuses an action that another tool of the same facade shows.
    fn elsewhere(&self, action: usize, view: &View) -> Failure {
        let name = &self.surface().actions[action].name;
        let other = view.others.iter().find(|(actions, _)| bit(*actions, action));
        let tool = other.map_or("another tool", |(_, tool)| tool);
        Failure::new(
            code::INVALID_PARAMS,
            format!("`{}` is an action of the tool `{tool}`. {}", show::name(name), self.available(view)),
        )
        .hint(format!("Call the tool `{tool}` with the same arguments."))
    }
}

#[cfg(test)]
mod tests;
