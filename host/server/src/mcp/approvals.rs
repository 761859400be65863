//! The approvals of a run, for the page that shows them: in `_meta["loggia/approvals"]` of the results that report the run, to
//! clients of MCP Apps that cannot ask their user. Models do not read it.
//!
//! A page decides nothing. It runs inside the client, and what it sends looks like what the model's client sends, so a click in
//! it is no evidence of a person. It shows what waits, and refers to where operators decide.

use loggia_facade::{Next, Object};
use loggia_gate::{
    access::CallOrigin,
    approval::ApprovalState,
    catalog::{CatalogSlot, CatalogSnapshot},
    run::{RunHandle, RunId},
};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::{handler::McpHandler, view::ShownPages};

/// Member of `_meta`.
const META: &str = "loggia/approvals";

impl McpHandler {
    /// Renders the approvals of a run of this caller, and the calls by which its page asks for its status and cancels it. `None`
    /// if the run has none, or the client shows no such pages.
    pub(super) fn run_approvals(
        &self,
        run: &str,
        origin: &CallOrigin,
        (snapshot, pages): (&CatalogSnapshot, ShownPages),
    ) -> Option<Value> {
        if pages != ShownPages::Approvals {
            return None;
        }
        let gate = self.gate();
        let handle = gate.find_run(&RunId::from_client(run), origin).ok()?;
        let approvals = handle.approvals();
        if approvals.is_empty() {
            return None;
        }
        let rendered = approvals.iter().map(|approval| {
            let mut out = json!(approval);
            let page = gate.approvals().and_then(|desk| desk.page_of(&approval.id));
            if let Some(page) = page.filter(|_| approval.state == ApprovalState::Open) {
                out["page"] = page.into();
            }
            out
        });
        let address = |action: &str| address_run(snapshot, origin, (&handle, run), action);
        let rendered: Vec<Value> = rendered.collect();
        let mut out = json!({ "run": run, "approvals": rendered, "status": address("run_status") });
        if !handle.status().has_ended() {
            out["cancel"] = address("run_cancel").into();
        }
        Some(out)
    }
}

/// Adds the approvals of its run to a result.
pub(super) fn add_approvals(result: &mut CallToolResult, approvals: Option<Value>) {
    if let Some(approvals) = approvals {
        result.meta.get_or_insert_default().insert(META.into(), approvals);
    }
}

/// Renders a call about a run as this client has to make it: of a tool that it sees, and that may do it. `None` if it sees none.
fn address_run(
    snapshot: &CatalogSnapshot,
    origin: &CallOrigin,
    (handle, run): (&RunHandle, &str),
    action: &str,
) -> Option<Value> {
    let Some(CatalogSlot::Serving(entry)) = snapshot.slots.get(handle.facade()) else { return None };
    let tools = snapshot.list(origin.list).tools.iter().filter(|(_, tool)| tool.facade == handle.facade());
    let mut taking = tools.filter_map(|(name, tool)| {
        let view = snapshot.visible_view(tool, &origin.rights)?;
        let is_meant = entry.contract.offers(action, &view)?;
        let may = action != "run_cancel" || entry.contract.can_cancel(handle.action(), &view);
        may.then_some((name, is_meant))
    });
    let (name, is_meant) = taking.next()?;
    let action = if is_meant { String::new() } else { action.to_owned() };
    let params = Object::from_iter([("run_id".to_owned(), run.into())]);
    Some(Next { facade: name.clone(), action, params, reason: None }.to_json())
}
