//! Restricts tools to the actions that a caller may call.

use loggia_facade::Action;

use crate::{
    contract::build::Contract,
    model::{
        host_action::HostAction,
        view::{CommandTarget, View},
    },
};

impl Contract {
    /// Whether a tool of this view takes an action, by its own name; and if so, whether the tool means it without being
    /// told.
    pub fn takes(&self, action: &str, view: &View) -> Option<bool> {
        let named = match self.index(action) {
            Some(index) => Some(CommandTarget::Action(index)).filter(|_| view.shows(index)),
            None => self.host_action_in(action, view).map(|(own, trace)| CommandTarget::Host(own, trace)),
        };
        match (named, view.default_target) {
            (None, _) => None,
            (named, Some(meant)) if view.is_single_action() => (named == Some(meant)).then_some(true),
            (named, meant) => Some(named == meant),
        }
    }

    /// Whether a run of this action may be ended through a tool of this view: through one that takes the action, or is
    /// there for nothing else. Else a tool that only reads would end what writes.
    pub fn may_end(&self, action: &str, view: &View) -> bool {
        matches!(view.default_target, Some(CommandTarget::Host(HostAction::RunCancel, _)))
            || self.takes(action, view).is_some()
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
        view.without(withheld, bits(&|_| true), bits(&|action| action.long_running), self.terms.batch)
    }
}
