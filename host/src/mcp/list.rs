//! What clients see: the tools and the instructions, built once per generation of the catalog.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use loggia_schema::Published;
use rmcp::model::{Tool, ToolAnnotations};

use crate::catalog::{Catalog, Snapshot};

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

/// What the facades are for and how to call them.
pub fn instructions(snapshot: &Snapshot) -> String {
    let mut text = HOW.to_owned();
    if snapshot.serving().any(|entry| entry.contract.has_runs()) {
        text.push_str(RUNS);
    }
    let mut more = 0;
    for entry in snapshot.serving() {
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

/// The list of the generation now served.
#[derive(Default)]
pub struct Listed(ArcSwapOption<(u64, Vec<Tool>)>);

impl Listed {
    /// The list, built anew only after the catalog changed.
    pub fn tools(&self, catalog: &Catalog) -> Arc<(u64, Vec<Tool>)> {
        let snapshot = catalog.snapshot();
        match self.0.load_full() {
            Some(listed) if listed.0 == snapshot.generation => listed,
            _ => {
                let listed = Arc::new((snapshot.generation, tools(&snapshot)));
                self.0.store(Some(Arc::clone(&listed)));
                listed
            }
        }
    }
}
