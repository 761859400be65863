//! The actions of a facade that a client sees.

use super::{entry::CatalogEntry, snapshot::CatalogSnapshot};
use crate::access::{CallerRights, ListId};

impl CatalogSnapshot {
    /// Lists the actions, by index, that a tool of a client's list offers and its caller may call.
    pub(super) fn visible_actions(
        &self,
        entry: &CatalogEntry,
        list: ListId,
        rights: &CallerRights,
    ) -> Vec<usize> {
        let facade = &entry.surface().name;
        let tools = self.list(list).tools.values().filter(|tool| tool.facade == *facade);
        let views: Vec<_> = tools.map(|tool| tool.view()).collect();
        let offered = |name: &str| views.iter().any(|view| entry.contract.offers(name, view).is_some());
        let actions = entry.surface().actions.iter().enumerate();
        actions
            .filter(|(_, action)| rights.allows(facade, &action.name) && offered(&action.name))
            .map(|(index, _)| index)
            .collect()
    }
}
