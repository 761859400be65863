//! Pages of tools, for clients of MCP Apps: at `ui://loggia/TOOL`, named in the tool's `_meta`.
//!
//! The extension is `io.modelcontextprotocol/ui`, version 2026-01-26. A server declares nothing, and may leave pages out of
//! `resources/list` (SEP-1865, "Resource Discovery").

use loggia_facade::{Action, Effect};
use loggia_gate::{
    access::{CallerRights, ListId},
    catalog::{CatalogEntry, CatalogSlot, CatalogSnapshot},
};
use loggia_schema::ToolView;
use rmcp::model::{ClientCapabilities, MetaObject, ReadResourceResult, ResourceContents};
use serde_json::json;

use super::{elicitation::ElicitationSupport, view::ShownPages};
use crate::apps::{PageAction, ToolPage};

/// The extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// Media type of the pages, which is the only one that the extension defines.
const MIME_TYPE: &str = "text/html;profile=mcp-app";
/// Begin of the pages' URIs.
const SCHEME: &str = "ui://loggia/";
/// Actions of the host that a page may call, and whether they change nothing.
const HOST_ACTIONS: [(&str, bool); 3] = [("describe", true), ("run_status", true), ("run_cancel", false)];

impl ShownPages {
    /// Reads a client's capabilities.
    pub fn of_client(client: Option<&ClientCapabilities>, keeps_approvals: bool) -> Self {
        let settings = client.and_then(|client| client.extensions.as_ref()?.get(EXTENSION));
        let types = settings.and_then(|settings| settings.get("mimeTypes")?.as_array());
        if !types.is_some_and(|types| types.iter().any(|given| given == MIME_TYPE)) {
            return Self::None;
        }
        match keeps_approvals && !client.is_some_and(ElicitationSupport::has_forms) {
            true => Self::Approvals,
            false => Self::Views,
        }
    }
}

/// Returns true if a tool of this view has a page for a client: it offers an action with a view that the policy publishes, or one
/// whose calls may wait for an operator.
fn has_page(entry: &CatalogEntry, view: &ToolView, pages: ShownPages) -> bool {
    let shows = |action: &Action| match pages {
        ShownPages::None => false,
        ShownPages::Views => entry.exposure.views && action.view.is_some(),
        ShownPages::Approvals => {
            (entry.exposure.views && action.view.is_some()) || entry.may_await_operator(&action.name)
        }
    };
    let mut actions = entry.surface().actions.iter().filter(|action| shows(action));
    actions.any(|action| entry.contract.offers(&action.name, view).is_some())
}

/// Adds the page of a tool to its `_meta`, if it has one.
pub fn add_page(
    meta: &mut MetaObject,
    entry: &CatalogEntry,
    tool: &str,
    (view, pages): (&ToolView, ShownPages),
) {
    if has_page(entry, view, pages) {
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
    (uri, pages): (&str, ShownPages),
) -> Option<ReadResourceResult> {
    let name = uri.strip_prefix(SCHEME)?;
    let tool = snapshot.list(list).tools.get(name)?;
    let entry = match snapshot.slots.get(&tool.facade)? {
        CatalogSlot::Serving(entry) => entry,
        CatalogSlot::Unavailable(_) => return None,
    };
    let view = snapshot.visible_view(tool, rights)?;
    // Whoever reads a page shows it, also without having said so.
    if !has_page(entry, &view, if pages == ShownPages::None { ShownPages::Views } else { pages }) {
        return None;
    }
    let surface = entry.surface();
    let actions = surface.actions.iter().filter_map(|action| {
        let is_meant = entry.contract.offers(&action.name, &view)?;
        let shown = action.view.as_ref().filter(|_| entry.exposure.views);
        let shown = shown.and_then(|name| surface.view(name));
        Some(PageAction { name: &action.name, reads: action.effect == Effect::Read, is_meant, view: shown })
    });
    let mut actions: Vec<PageAction> = actions.collect();
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
        use ShownPages::{Approvals, None, Views};
        let pages = |types: serde_json::Value| json!({EXTENSION: {"mimeTypes": types}});
        for (declared, expected) in [
            (json!({}), None),
            (json!({"extensions": {}}), None),
            (json!({"extensions": {EXTENSION: {}}}), None),
            (json!({"extensions": pages(json!(["text/html"]))}), None),
            (json!({"extensions": pages(json!(MIME_TYPE))}), None),
            (json!({"extensions": pages(json!(["x", MIME_TYPE]))}), Approvals),
            (json!({"extensions": pages(json!([MIME_TYPE])), "elicitation": {"url": {}}}), Approvals),
            // It asks its user itself.
            (json!({"extensions": pages(json!([MIME_TYPE])), "elicitation": {}}), Views),
            (json!({"extensions": pages(json!([MIME_TYPE])), "elicitation": {"form": {}}}), Views),
        ] {
            let client: ClientCapabilities = serde_json::from_value(declared.clone()).unwrap();
            assert_eq!(ShownPages::of_client(Some(&client), true), expected, "{declared}");
            let without = if expected == Approvals { Views } else { expected };
            assert_eq!(ShownPages::of_client(Some(&client), false), without, "{declared}");
        }
        assert_eq!(ShownPages::of_client(Option::None, true), None);
    }
}
