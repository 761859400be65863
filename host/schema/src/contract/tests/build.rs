//! The time at which validators are compiled.

use std::sync::Arc;

use loggia_facade::{Detail, Object, Surface};
use serde_json::{Value, json};

use crate::{
    contract::{build::Contract, routed::CallTarget},
    model::{action_policy::ActionPolicy, compiled::COMPILED, view::ToolView},
    tests::fixture,
};

/// Makes every kind of call. Returns how many schemas were compiled.
fn compiled_by_calls(contract: &Contract) -> usize {
    let before = COMPILED.get();
    let view = ToolView::all_actions();
    for sent in [
        json!({"action": "add", "text": "x"}),
        json!({"action": "search", "query": "x", "limit": "5"}),
        json!({"action": "search", "query": 5, "limt": 1}),
        json!({"action": "list"}),
        json!({"action": "get", "id": "n_1"}),
        json!({"action": "delete", "id": 1}),
        json!({"action": "describe", "of": "add"}),
        json!({"action": "describe", "of": 5}),
        json!({"action": "run_status", "run_id": "x"}),
        json!({"action": "run_cancel"}),
        json!({"action": "batch", "items": [{"action": "list"}]}),
        json!({"action": "batch", "items": 5}),
        json!({"action": "nothing"}),
    ] {
        let arguments: Object = sent.as_object().cloned().unwrap_or_default();
        match contract.route(arguments, &view).map(|routed| routed.target) {
            Ok(CallTarget::Action { action, params }) => {
                let action = &contract.surface().actions[action];
                if let Ok(prepared) = contract.prepare(action, params) {
                    contract.resolved_inputs(action, &prepared.params);
                }
            }
            Ok(CallTarget::Describe(request)) => {
                let described = contract.describe_page(&request, Detail::Full, &view).map(|reply| reply.data);
                assert!(described.is_ok_and(|data| data != Value::Null));
            }
            _ => {}
        }
    }
    COMPILED.get() - before
}

fn surface() -> Arc<Surface> {
    let mut surface = fixture::notes();
    surface.actions[0].long_running = true;
    Arc::new(surface)
}

fn terms() -> ActionPolicy {
    ActionPolicy { batch: true, ..ActionPolicy::default() }
}

#[test]
fn no_call_compiles_a_validator() {
    let contract = Contract::new(surface()).unwrap().with_policy(terms()).unwrap();
    assert_eq!(compiled_by_calls(&contract), 0);
}

#[test]
fn a_known_surface_compiles_only_on_request() {
    let before = COMPILED.get();
    let contract = Contract::from_checked(surface()).unwrap().with_policy(terms()).unwrap();
    assert_eq!(COMPILED.get(), before, "`known` is to cost little");
    contract.compile().unwrap();
    assert!(COMPILED.get() > before);
    assert_eq!(compiled_by_calls(&contract), 0);
}
