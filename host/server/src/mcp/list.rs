//! Tool lists, cached per catalog generation, list and rights.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arc_swap::ArcSwapOption;
use loggia_gate::{
    access::{CallerRights, ListId},
    catalog::{Catalog, CatalogSlot, CatalogSnapshot, list_tools},
};
use loggia_schema::PublishedTool;
use rmcp::model::{MetaObject, Tool, ToolAnnotations};

use super::{
    search_hint::to_meta,
    tool_pages::add_page,
    view::{ClientView, ShownPages},
};

/// Converts the listed tools of a list, sorted by name.
pub fn published_tools(snapshot: &CatalogSnapshot, list: ListId) -> Vec<Tool> {
    snapshot.list(list).listed().map(|(_, tool)| to_tool(&tool.published)).collect()
}

/// Converts one tool to MCP's form.
pub fn to_tool(published: &PublishedTool) -> Tool {
    let mut hints = ToolAnnotations::new()
        .read_only(published.read_only)
        .destructive(published.destructive)
        .open_world(published.open_world);
    // False is the default, which every client knows, and it says nothing of a tool that only reads. The others are
    // written out, because some clients require them.
    if published.idempotent && !published.read_only {
        hints = hints.idempotent(true);
    }
    let schema = Arc::clone(&published.input_schema);
    let tool = Tool::new(published.name.clone(), published.description.clone(), schema)
        .with_title(published.title.clone())
        .with_annotations(hints);
    match &published.output_schema {
        Some(schema) => tool.with_raw_output_schema(Arc::clone(schema)),
        None => tool,
    }
}

/// Lists the tools that a client sees, with what it reads in their `_meta`.
fn visible_tools(snapshot: &CatalogSnapshot, view: ClientView, rights: &CallerRights) -> Vec<Tool> {
    let convert = |facade: &str, published: &PublishedTool| {
        let tool = to_tool(published);
        match snapshot.slots.get(facade).filter(|_| view.client.meta || view.pages != ShownPages::None) {
            Some(CatalogSlot::Serving(entry)) => {
                let mut meta = match view.client.meta {
                    true => to_meta(entry, published, view.client),
                    false => MetaObject::new(),
                };
                add_page(&mut meta, entry, &published.name, (&published.view, view.pages));
                if meta.is_empty() { tool } else { tool.with_meta(meta) }
            }
            _ => tool,
        }
    };
    list_tools(snapshot, view.list, rights).iter().map(|(facade, tool)| convert(facade, tool)).collect()
}

/// Cached lists, besides that of most clients.
const MAX_CACHED: usize = 64;

/// What decides on a list of tools, besides the catalog.
#[derive(Clone, PartialEq)]
struct ListKey {
    list: ListId,
    has_meta: bool,
    pages: ShownPages,
    rights: CallerRights,
}

/// A list of tools, with its generation.
pub type VersionedList = (u64, Vec<Tool>);

/// Cache of the tool lists of the current catalog generation.
#[derive(Default)]
pub struct ToolListCache {
    /// The list of most clients: the default one, for callers of all rights.
    most: ArcSwapOption<VersionedList>,
    /// The other lists, the most recently used at the end. The lock is never held while a list is built: two callers with the
    /// same key may build it twice, but no caller waits for another's list.
    others: Mutex<VecDeque<CachedList>>,
}

/// The list of one key.
struct CachedList {
    key: ListKey,
    list: Arc<VersionedList>,
}

impl ToolListCache {
    /// Returns the list for a client and the rights of its caller, from the cache unless the catalog has changed.
    pub fn tools(&self, catalog: &Catalog, view: ClientView, rights: &CallerRights) -> Arc<VersionedList> {
        let snapshot = catalog.snapshot();
        let key = ListKey {
            list: view.list,
            has_meta: view.client.meta,
            pages: view.pages,
            rights: rights.clone(),
        };
        let build = || Arc::new((snapshot.generation, visible_tools(&snapshot, view, rights)));
        if key.list != ListId::default()
            || key.has_meta
            || key.pages != ShownPages::None
            || !rights.are_unrestricted()
        {
            let known = self.take(snapshot.generation, &key);
            // Built without the lock, so that other callers do not wait.
            return self.keep(known.unwrap_or_else(|| CachedList { key, list: build() }));
        }
        match self.most.load_full() {
            Some(listed) if listed.0 == snapshot.generation => listed,
            _ => {
                let listed = build();
                self.most.store(Some(Arc::clone(&listed)));
                listed
            }
        }
    }

    /// Takes a cached list, and evicts those of older generations.
    fn take(&self, generation: u64, key: &ListKey) -> Option<CachedList> {
        let mut lists = self.lock();
        lists.retain(|known| known.list.0 >= generation);
        let at = lists.iter().position(|known| known.list.0 == generation && known.key == *key)?;
        lists.remove(at)
    }

    fn keep(&self, listed: CachedList) -> Arc<VersionedList> {
        let list = Arc::clone(&listed.list);
        let mut lists = self.lock();
        lists.retain(|known| known.key != listed.key);
        if lists.len() >= MAX_CACHED {
            lists.pop_front();
        }
        lists.push_back(listed);
        list
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<CachedList>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
