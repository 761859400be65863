//! Restricts tools to the actions that a caller may call.

use crate::{
    contract::build::Contract,
    model::{
        action_set::ActionSet,
        host_action::HostAction,
        view::{CommandTarget, ToolView},
    },
};

impl Contract {
    /// Whether a tool of this view accepts an action, by its own name; and if so, whether the action is the tool's
    /// default.
    pub fn offers(&self, action: &str, view: &ToolView) -> Option<bool> {
        let named = match self.index(action) {
            Some(index) => Some(CommandTarget::Action(index)).filter(|_| view.shows(index)),
            None => self
                .host_action_in(action, view)
                .map(|(host_action, trace)| CommandTarget::Host(host_action, trace)),
        };
        match (named, view.default_target) {
            (None, _) => None,
            (named, Some(default)) if view.is_single_action() => (named == Some(default)).then_some(true),
            (named, default) => Some(named == default),
        }
    }

    /// Whether a tool of this view may cancel runs of an action: it accepts the action, or exists to cancel runs.
    /// Otherwise a read-only tool could cancel a write.
    pub fn can_cancel(&self, action: &str, view: &ToolView) -> bool {
        matches!(view.default_target, Some(CommandTarget::Host(HostAction::RunCancel, _)))
            || self.offers(action, view).is_some()
    }

    /// Restricts a tool to the actions that a caller may call; none if nothing is left.
    ///
    /// The default action is kept or dropped, never replaced: a call that names no action must not be answered by
    /// whichever action is left.
    pub fn narrow(&self, view: &ToolView, allows: impl Fn(&str) -> bool) -> Option<ToolView> {
        let actions = &self.surface().actions;
        self.withhold(view, &ActionSet::matching(actions, |action| !allows(&action.name)))
    }

    /// Restricts a tool to the named actions, in time that depends on their number alone; none if nothing is left.
    pub fn narrow_to<'n>(&self, view: &ToolView, names: impl Iterator<Item = &'n str>) -> Option<ToolView> {
        let allowed = ActionSet::from_indices(names.filter_map(|name| self.index_of_name(name)));
        self.withhold(view, &self.all.difference(&allowed))
    }

    fn withhold(&self, view: &ToolView, withheld: &ActionSet) -> Option<ToolView> {
        if withheld.is_empty() {
            Some(view.clone())
        } else {
            view.without(withheld, &self.all, &self.detachable, self.policy.batch)
        }
    }
}
