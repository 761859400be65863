//! Pages of tools, for clients of MCP Apps: at `ui://loggia/TOOL`, named in the tool's `_meta`.
//!
//! The extension is `io.modelcontextprotocol/ui`, version 2026-01-26. A server declares nothing, and may leave pages out of
//! `resources/list` (SEP-1865, "Resource Discovery").

use loggia_facade::Effect;
use loggia_gate::{
    access::{CallerRights, ListId},
    catalog::{CatalogEntry, CatalogSlot, CatalogSnapshot},
};
use loggia_schema::ToolView;
use rmcp::model::{ClientCapabilities, MetaObject, ReadResourceResult, ResourceContents};
use serde_json::json;

use crate::apps::{PageAction, ToolPage};

/// The extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// Media type of the pages, which is the only one that the extension defines.
const MIME_TYPE: &str = "text/html;profile=mcp-app";
/// Begin of the pages' URIs.
const SCHEME: &str = "ui://loggia/";
/// Actions of the host that a page may call, and whether they change nothing.
const HOST_ACTIONS: [(&str, bool); 3] = [("describe", true), ("run_status", true), ("run_cancel", false)];

/// Returns true if a client shows pages.
pub fn shows_pages(client: Option<&ClientCapabilities>) -> bool {
    let settings = client.and_then(|client| client.extensions.as_ref()?.get(EXTENSION));
    let types = settings.and_then(|settings| settings.get("mimeTypes")?.as_array());
    types.is_some_and(|types| types.iter().any(|given| given == MIME_TYPE))
}

/// Adds the page of a tool to its `_meta`, if it has one.
pub fn add_page(meta: &mut MetaObject, entry: &CatalogEntry, tool: &str, view: &ToolView) {
    let mut actions = entry.surface().actions.iter().filter(|_| entry.exposure.views);
    if actions.any(|action| action.view.is_some() && entry.contract.offers(&action.name, view).is_some()) {
        let uri = format!("{SCHEME}{tool}");
        meta.insert("ui".into(), json!({ "resourceUri": uri }));
        // The older form, which clients still read.
        meta.insert("ui/resourceUri".into(), uri.into());
    }
}

/// Reads the page of a URI. `None` if the caller sees no tool that has it.
pub fn read_page(
    snapshot: &CatalogSnapshot,
    list: ListId,
    rights: &CallerRights,
    uri: &str,
) -> Option<ReadResourceResult> {
    let name = uri.strip_prefix(SCHEME)?;
    let tool = snapshot.list(list).tools.get(name)?;
    let entry = match snapshot.slots.get(&tool.facade)? {
        CatalogSlot::Serving(entry) if entry.exposure.views => entry,
        _ => return None,
    };
    let view = snapshot.visible_view(tool, rights)?;
    let surface = entry.surface();
    let actions = surface.actions.iter().filter_map(|action| {
        let is_meant = entry.contract.offers(&action.name, &view)?;
        let shown = action.view.as_ref().and_then(|name| surface.view(name));
        Some(PageAction { name: &action.name, reads: action.effect == Effect::Read, is_meant, view: shown })
    });
    let mut actions: Vec<PageAction> = actions.collect();
    if actions.iter().all(|action| action.view.is_none()) {
        return None;
    }
    actions.extend(HOST_ACTIONS.iter().filter_map(|(name, reads)| {
        let is_meant = entry.contract.offers(name, &view)?;
        Some(PageAction { name, reads: *reads, is_meant, view: None })
    }));
    let page = ToolPage { tool: name, title: &surface.title, actions };
    // No domains and no permissions: clients grant nothing.
    let mut meta = MetaObject::new();
    meta.insert("ui".into(), json!({ "csp": {}, "permissions": {}, "prefersBorder": true }));
    let contents = ResourceContents::text(page.to_html(), uri).with_mime_type(MIME_TYPE).with_meta(meta);
    Some(ReadResourceResult::new(vec![contents]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_declare_that_they_show_pages() {
        for (declared, expected) in [
            (json!({}), false),
            (json!({"extensions": {}}), false),
            (json!({"extensions": {EXTENSION: {}}}), false),
            (json!({"extensions": {EXTENSION: {"mimeTypes": ["text/html"]}}}), false),
            (json!({"extensions": {EXTENSION: {"mimeTypes": "text/html;profile=mcp-app"}}}), false),
            (json!({"extensions": {EXTENSION: {"mimeTypes": ["x", MIME_TYPE]}}}), true),
        ] {
            let client: ClientCapabilities = serde_json::from_value(declared.clone()).unwrap();
            assert_eq!(shows_pages(Some(&client)), expected, "{declared}");
        }
        assert!(!shows_pages(None));
    }
}
