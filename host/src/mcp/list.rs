//! What clients see: the tools and the instructions, built once per generation of the catalog, and once for all callers
//! of the same rights.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arc_swap::ArcSwapOption;
use loggia_schema::{Published, View};
use rmcp::model::{Tool, ToolAnnotations};

use crate::{
    catalog::{Catalog, Entry, Snapshot},
    gate::Rights,
    publish::tools_for,
};

/// The tools of a snapshot, in the order of their names.
pub fn tools(snapshot: &Snapshot) -> Vec<Tool> {
    snapshot.tools.values().map(|tool| self::tool(&tool.published)).collect()
}

/// One tool as MCP lists it.
pub fn tool(published: &Published) -> Tool {
    let hints = ToolAnnotations::new()
        .read_only(published.read_only)
        .destructive(published.destructive)
        .idempotent(published.idempotent)
        .open_world(published.open_world);
    let schema = Arc::clone(&published.input_schema);
    let tool = Tool::new(published.name.clone(), published.description.clone(), schema)
        .with_title(published.title.clone())
        .with_annotations(hints);
    match &published.output_schema {
        Some(schema) => tool.with_raw_output_schema(Arc::clone(schema)),
        None => tool,
    }
}

/// Instructions longer than this are cut by clients.
const INSTRUCTIONS: usize = 1500;

const HOW: &str = "\
Each tool is one domain; `action` chooses the operation, and the action's parameters stand beside it or in `params`: \
{\"action\": \"…\", …}. Parameters are described as [actions] text, * meaning required for that action. When unsure, \
call action \"describe\", with `of` naming one action for its parameters and examples. Results are JSON: \
{\"ok\": true, \"data\": …} or {\"ok\": false, \"code\", \"error\", \"hint\", \"expected\", \"example\"}: read `hint`, \
mend the call, try again. `next` names the call that should follow.";

const RUNS: &str = " \
A call that takes long answers with a run: call action \"run_status\" with its `run_id` and `wait`: true for the result.";

/// What the facades that a caller of these rights reaches are for, and how to call them.
pub fn instructions(snapshot: &Snapshot, rights: &Rights) -> String {
    let whole = View::whole();
    let seen = snapshot.serving().filter_map(|entry| Some((&**entry, rights.narrow(entry, &whole)?)));
    let seen: Vec<(&Entry, _)> = seen.collect();
    let mut text = HOW.to_owned();
    if seen.iter().any(|(entry, view)| entry.contract.takes("run_status", view).is_some()) {
        text.push_str(RUNS);
    }
    let mut more = 0;
    for (entry, _) in seen {
        let surface = entry.surface();
        let said = surface.instructions.as_deref().unwrap_or(&surface.summary);
        let line = format!("\n- {}: {}", surface.name, said.lines().next().unwrap_or_default());
        // A line that does not fit is left out whole, and so are all after it: the order must not depend on lengths.
        if more > 0 || text.len() + line.len() > INSTRUCTIONS - 40 {
            more += 1;
        } else {
            text.push_str(&line);
        }
    }
    if more > 0 {
        text.push_str(&format!("\n- and {more} more tools"));
    }
    text
}

/// Callers of different rights whose lists are kept.
const KEPT: usize = 64;

/// The lists of the generation now served.
#[derive(Default)]
pub struct Listed {
    /// For those who may call everything.
    whole: ArcSwapOption<(u64, Vec<Tool>)>,
    /// For the others, those who asked last at the end.
    narrowed: Mutex<VecDeque<Narrowed>>,
}

/// What callers of these rights see.
struct Narrowed {
    rights: Rights,
    list: Arc<(u64, Vec<Tool>)>,
}

impl Listed {
    /// The list for callers of these rights, built anew only after the catalog changed.
    pub fn tools(&self, catalog: &Catalog, rights: &Rights) -> Arc<(u64, Vec<Tool>)> {
        let snapshot = catalog.snapshot();
        if !rights.are_all() {
            return self.narrowed(&snapshot, rights);
        }
        match self.whole.load_full() {
            Some(listed) if listed.0 == snapshot.generation => listed,
            _ => {
                let listed = Arc::new((snapshot.generation, tools(&snapshot)));
                self.whole.store(Some(Arc::clone(&listed)));
                listed
            }
        }
    }

    fn narrowed(&self, snapshot: &Snapshot, rights: &Rights) -> Arc<(u64, Vec<Tool>)> {
        if let Some(known) = self.take(snapshot.generation, rights) {
            return self.keep(known);
        }
        // Made without the lock: others are not to wait for it.
        let tools = tools_for(snapshot, rights).iter().map(tool).collect();
        let list = Arc::new((snapshot.generation, tools));
        self.keep(Narrowed { rights: rights.clone(), list })
    }

    /// Forgets what is old.
    fn take(&self, generation: u64, rights: &Rights) -> Option<Narrowed> {
        let mut lists = self.lock();
        lists.retain(|known| known.list.0 >= generation);
        let at = lists.iter().position(|known| known.list.0 == generation && known.rights == *rights)?;
        lists.remove(at)
    }

    fn keep(&self, narrowed: Narrowed) -> Arc<(u64, Vec<Tool>)> {
        let list = Arc::clone(&narrowed.list);
        let mut lists = self.lock();
        lists.retain(|known| known.rights != narrowed.rights);
        if lists.len() >= KEPT {
            lists.pop_front();
        }
        lists.push_back(narrowed);
        list
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Narrowed>> {
        self.narrowed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
