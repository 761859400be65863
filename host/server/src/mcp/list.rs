//! Tool lists, cached per catalog generation and rights.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arc_swap::ArcSwapOption;
use loggia_gate::{
    access::CallerRights,
    catalog::{Catalog, CatalogSnapshot, list_tools},
};
use loggia_schema::PublishedTool;
use rmcp::model::{Tool, ToolAnnotations};

/// Converts the listed tools of a snapshot, sorted by name.
pub fn published_tools(snapshot: &CatalogSnapshot) -> Vec<Tool> {
    snapshot.listed_tools().map(|(_, tool)| to_tool(&tool.published)).collect()
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

/// Cached lists of callers with limited rights.
const MAX_NARROWED: usize = 64;

/// Cache of the tool lists of the current catalog generation.
#[derive(Default)]
pub struct ToolListCache {
    /// List for callers of all rights.
    whole: ArcSwapOption<(u64, Vec<Tool>)>,
    /// Lists for limited rights, the most recently used at the end. The lock is never held while a list is built: two
    /// callers of the same rights may build it twice, but no caller waits for another's list.
    narrowed: Mutex<VecDeque<NarrowedList>>,
}

/// The list for one set of rights.
struct NarrowedList {
    rights: CallerRights,
    list: Arc<(u64, Vec<Tool>)>,
}

impl ToolListCache {
    /// Returns the list for callers of these rights, from the cache unless the catalog has changed.
    pub fn tools(&self, catalog: &Catalog, rights: &CallerRights) -> Arc<(u64, Vec<Tool>)> {
        let snapshot = catalog.snapshot();
        if !rights.are_unrestricted() {
            return self.narrowed(&snapshot, rights);
        }
        match self.whole.load_full() {
            Some(listed) if listed.0 == snapshot.generation => listed,
            _ => {
                let listed = Arc::new((snapshot.generation, published_tools(&snapshot)));
                self.whole.store(Some(Arc::clone(&listed)));
                listed
            }
        }
    }

    fn narrowed(&self, snapshot: &CatalogSnapshot, rights: &CallerRights) -> Arc<(u64, Vec<Tool>)> {
        if let Some(known) = self.take(snapshot.generation, rights) {
            return self.keep(known);
        }
        // Built without the lock, so that other callers do not wait.
        let tools = list_tools(snapshot, rights).iter().map(to_tool).collect();
        let list = Arc::new((snapshot.generation, tools));
        self.keep(NarrowedList { rights: rights.clone(), list })
    }

    /// Takes a cached list, and evicts those of older generations.
    fn take(&self, generation: u64, rights: &CallerRights) -> Option<NarrowedList> {
        let mut lists = self.lock();
        lists.retain(|known| known.list.0 >= generation);
        let at = lists.iter().position(|known| known.list.0 == generation && known.rights == *rights)?;
        lists.remove(at)
    }

    fn keep(&self, narrowed: NarrowedList) -> Arc<(u64, Vec<Tool>)> {
        let list = Arc::clone(&narrowed.list);
        let mut lists = self.lock();
        lists.retain(|known| known.rights != narrowed.rights);
        if lists.len() >= MAX_NARROWED {
            lists.pop_front();
        }
        lists.push_back(narrowed);
        list
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<NarrowedList>> {
        self.narrowed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
