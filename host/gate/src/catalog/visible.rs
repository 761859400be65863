//! The actions of a facade that a client sees.

use std::collections::BTreeMap;

use loggia_facade::SurfaceView;

use super::{
    entry::{CatalogEntry, CatalogSlot},
    snapshot::CatalogSnapshot,
};
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

/// The views of all actions: clients keep the pages of tools until they hear of a change.
pub(super) fn shown_views(
    slots: &BTreeMap<String, CatalogSlot>,
) -> impl Iterator<Item = (&str, &str, Option<&SurfaceView>)> {
    let serving = slots.values().filter_map(|slot| match slot {
        CatalogSlot::Serving(entry) if entry.exposure.views => Some(entry.surface()),
        _ => None,
    });
    serving.flat_map(|surface| {
        let actions = surface.actions.iter();
        actions.filter_map(|action| {
            Some((surface.name.as_str(), action.name.as_str(), surface.view(action.view.as_ref()?)))
        })
    })
}

/// The actions whose calls may wait for an operator: their tools have pages, too.
pub(super) fn awaited_actions(slots: &BTreeMap<String, CatalogSlot>) -> impl Iterator<Item = (&str, &str)> {
    let serving = slots.values().filter_map(|slot| match slot {
        CatalogSlot::Serving(entry) => Some(entry),
        CatalogSlot::Unavailable(_) => None,
    });
    serving.flat_map(|entry| {
        let surface = entry.surface();
        let actions = surface.actions.iter().filter(|action| entry.may_await_operator(&action.name));
        actions.map(|action| (surface.name.as_str(), action.name.as_str()))
    })
}
