//! Groups of the actions that a tool offers.

use std::collections::HashMap;

use loggia_facade::Action;

use crate::{contract::build::Contract, model::view::ToolView};

/// The actions of one group, in the order of the surface.
pub(crate) struct ActionGroup<'a> {
    /// The name; none for the actions without a group.
    pub(crate) name: Option<&'a str>,
    pub(crate) actions: Vec<&'a Action>,
}

impl Contract {
    /// The groups of the actions that a tool of this view offers, the largest first and the actions without a group
    /// last.
    pub(crate) fn groups(&self, view: &ToolView) -> Vec<ActionGroup<'_>> {
        let mut groups: Vec<ActionGroup<'_>> = Vec::new();
        let mut places: HashMap<Option<&str>, usize> = HashMap::new();
        let shown = self.surface.actions.iter().enumerate().filter(|(index, _)| view.shows(*index));
        for (_, action) in shown {
            let name = action.group.as_deref();
            let place = *places.entry(name).or_insert_with(|| {
                groups.push(ActionGroup { name, actions: Vec::new() });
                groups.len() - 1
            });
            groups[place].actions.push(action);
        }
        groups.sort_by(|one, other| {
            let order = one.name.is_none().cmp(&other.name.is_none());
            order.then(other.actions.len().cmp(&one.actions.len())).then(one.name.cmp(&other.name))
        });
        groups
    }
}
