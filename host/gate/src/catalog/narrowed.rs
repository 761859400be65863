//! The tools of a list that a caller with limited rights sees.

use std::{collections::BTreeMap, sync::Arc};

use loggia_schema::PublishedTool;

use super::{entry::CatalogSlot, exposure::CatalogTool, snapshot::CatalogSnapshot};
use crate::access::{CallerRights, ListId};

/// Lists the tools of a list that a caller with these rights sees, in the order of their names, each with its facade.
pub fn list_tools(
    snapshot: &CatalogSnapshot,
    list: ListId,
    rights: &CallerRights,
) -> Vec<(String, Arc<PublishedTool>)> {
    let mut facades: BTreeMap<&str, Vec<Arc<PublishedTool>>> = BTreeMap::new();
    let visible = snapshot.list(list).listed().filter_map(|(name, tool)| {
        let CatalogTool { facade, expose, published, .. } = tool;
        if rights.are_unrestricted() {
            return Some((facade.clone(), Arc::clone(published)));
        }
        let Some(CatalogSlot::Serving(entry)) = snapshot.slots.get(facade) else { return None };
        let own = facades.entry(facade).or_insert_with(|| {
            let scope = snapshot.scope(list);
            let shows = |action: &str| scope.is_none_or(|scope| scope.allows(facade, action));
            let allows = |action: &str| rights.allows(facade, action) && shows(action);
            let tools = entry.contract.publish_for(expose, allows);
            tools.into_iter().map(Arc::new).collect()
        });
        own.iter().find(|tool| tool.name == *name).map(|tool| (facade.clone(), Arc::clone(tool)))
    });
    visible.collect()
}
