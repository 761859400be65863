//! Results of `describe`.

use std::sync::Arc;

use loggia_facade::{Detail, Object};
use serde_json::{Value, json};

use crate::{
    contract::build::Contract,
    model::{action_policy::ActionPolicy, action_set::ActionSet, view::ToolView},
    tests::fixture,
};

fn pretty(contract: &Contract, of: Option<&str>, detail: Detail, view: &ToolView) -> String {
    serde_json::to_string_pretty(&contract.describe(of, detail, view).unwrap()).unwrap()
}

#[test]
fn the_list_of_all_actions() {
    let contract = Contract::new(Arc::new(fixture::notes())).unwrap();
    let text = |detail| pretty(&contract, None, detail, &ToolView::all_actions());
    insta::assert_snapshot!("describe", text(Detail::Standard));
    insta::assert_snapshot!("describe_minimal", text(Detail::Minimal));
}

#[test]
fn the_list_of_a_facade_with_runs_and_batches() {
    let mut surface = fixture::notes();
    surface.actions.truncate(2);
    surface.actions[1].long_running = true;
    let terms = ActionPolicy { confirm: vec!["add".into()], batch: true, ..ActionPolicy::default() };
    let contract = Contract::new(Arc::new(surface)).unwrap().with_policy(terms).unwrap();
    insta::assert_snapshot!(
        "describe_runs",
        pretty(&contract, None, Detail::Standard, &ToolView::all_actions())
    );
}

#[test]
fn one_action_with_its_parameters() {
    let contract = Contract::new(Arc::new(fixture::notes())).unwrap();
    let text = |name, detail| pretty(&contract, Some(name), detail, &ToolView::all_actions());
    insta::assert_snapshot!("describe_one", text("Search", Detail::Standard));
    insta::assert_snapshot!("describe_one_full", text("rm", Detail::Full));
    let failure = contract.describe(Some("ad"), Detail::Standard, &ToolView::all_actions()).unwrap_err();
    assert!(failure.message.starts_with("Unknown action: \"ad\"."), "{failure}");
    assert_eq!(failure.hint.as_deref(), Some("Did you mean \"add\"?"));
}

#[test]
fn advice_on_a_parameter_is_found_under_every_key() {
    let properties = json!({
        "a": {"type": "string", "x-hint": "How."},
        "b": {"type": "string", "x-when-to-change": "When."},
        "c": {"type": "string", "details": {"when_to_change": "When."}},
        "d": {"type": "string", "x-hint": "How.", "x-details": {"when_to_change": "When."}}});
    let contract = Contract::new(Arc::new(fixture::one(properties, json!([])))).unwrap();
    let described = contract.describe(Some("go"), Detail::Standard, &ToolView::all_actions()).unwrap();
    assert_eq!(
        described["params"],
        json!({
            "a": {"type": "string", "hint": "How."},
            "b": {"type": "string", "when_to_change": "When."},
            "c": {"type": "string", "when_to_change": "When."},
            "d": {"type": "string", "hint": "How.", "when_to_change": "When."}})
    );
}

#[test]
fn host_actions_are_described() {
    let mut surface = fixture::notes();
    surface.actions[0].long_running = true;
    let terms = ActionPolicy { batch: true, ..ActionPolicy::default() };
    let contract = Contract::new(Arc::new(surface)).unwrap().with_policy(terms).unwrap();
    let described = ["describe", "run_status", "run_cancel", "BATCH"]
        .map(|name| pretty(&contract, Some(name), Detail::Standard, &ToolView::all_actions()));
    insta::assert_snapshot!("describe_own", described.join("\n"));
    let alias = contract.describe(Some("status"), Detail::Standard, &ToolView::all_actions()).unwrap();
    assert_eq!(alias["name"], "run_status");
    let full = contract.describe(Some("batch"), Detail::Full, &ToolView::all_actions()).unwrap();
    assert_eq!(full["params"]["properties"]["items"]["maxItems"], 50);
    let without = Contract::new(Arc::new(fixture::notes())).unwrap();
    assert!(without.describe(Some("batch"), Detail::Standard, &ToolView::all_actions()).is_err());
}

#[test]
fn a_split_tool_describes_its_actions_and_names_the_other_tool() {
    let contract = Contract::new(Arc::new(fixture::notes())).unwrap();
    let writes: (ActionSet, String) = (ActionSet::from_indices([0, 4]), "notes_write".into());
    let reads = ToolView::new(ActionSet::from_indices([1, 2, 3]), None, Arc::new([writes]));
    let described = contract.describe(None, Detail::Minimal, &reads).unwrap();
    let names: Vec<_> = described["actions"].as_array().unwrap().iter().map(|a| a["name"].clone()).collect();
    assert_eq!(names, ["search", "list", "get"]);
    assert_eq!(described["other_tools"], json!({"notes_write": ["add", "delete"]}));
    assert!(contract.describe(Some("list"), Detail::Standard, &reads).is_ok());
    let failure = contract.describe(Some("rm"), Detail::Standard, &reads).unwrap_err();
    assert!(failure.message.starts_with("`delete` is an action of the tool `notes_write`."), "{failure}");
}

/// The list of thirty actions. The goal is 1,500 tokens; o200k_base takes 4.1 bytes of such text per token (5,465
/// bytes were 1,303).
fn list_of_thirty(surface: loggia_facade::Surface) -> Value {
    let terms = ActionPolicy { batch: true, ..ActionPolicy::default() };
    let contract = Contract::new(Arc::new(surface)).unwrap().with_policy(terms).unwrap();
    let list = contract.describe(None, Detail::Standard, &ToolView::all_actions()).unwrap();
    let bytes = list.to_string().len();
    assert!(bytes < 5900, "{bytes} bytes: {list}");
    list
}

#[test]
fn thirty_actions_are_described_in_few_bytes() {
    let list = list_of_thirty(fixture::large(30));
    let first = list["actions"][0]["signature"].as_str().unwrap();
    assert_eq!(first, "create_issue(id: string, title?: string, state?: open|closed, limit?: integer)");
}

#[test]
fn long_lists_are_shortened() {
    let mut surface = fixture::large(30);
    for action in &mut surface.actions {
        action.summary =
            format!("{} It does so with great care, and tells in many words what it did.", action.summary);
    }
    let list = list_of_thirty(surface.clone());
    assert!(list["actions"][0]["summary"].as_str().unwrap().ends_with('…'), "{list}");
    let properties: Object = (0..12).map(|n| (format!("parameter_{n}"), json!({"type": "string"}))).collect();
    for action in &mut surface.actions {
        let schema = json!({"type": "object", "properties": properties, "required": ["parameter_0"]});
        action.params = Arc::new(schema.as_object().unwrap().clone());
    }
    let list = list_of_thirty(surface);
    assert_eq!(list["actions"][0]["signature"], "create_issue(parameter_0: string, …)");
}

#[test]
fn schemas_of_results_omit_internal_members() {
    let mut surface = fixture::notes();
    let step = json!({"type": "object", "properties": {"n": {}, "_trace": {}}, "required": ["n", "_trace"]});
    let steps = json!({"type": "array", "items": step});
    let data = json!({"properties": {"steps": steps, "_shared": {}}, "required": ["_shared", "steps"]});
    surface.actions[0].data = Some(Arc::new(data));
    let name = surface.actions[0].name.clone();
    let contract = Contract::new(Arc::new(surface)).unwrap();
    let described = contract.describe(Some(&name), Detail::Full, &ToolView::all_actions()).unwrap();
    let step = json!({"type": "object", "properties": {"n": {}}, "required": ["n"]});
    let steps = json!({"type": "array", "items": step});
    assert_eq!(described["data"], json!({"properties": {"steps": steps}, "required": ["steps"]}));
}
