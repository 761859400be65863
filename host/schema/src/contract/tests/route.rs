//! Every shape of a call, and the failures of malformed ones.

use std::sync::Arc;

use loggia_facade::{Command, Detail, code};
use serde_json::{Value, json};

use crate::{
    contract::{
        build::Contract,
        routed::{CallTarget, DescribeRequest, RefusedCall, RoutedCall},
    },
    model::view::ToolView,
    tests::fixture,
    text::show,
};

fn route(sent: &Value) -> Result<RoutedCall, Box<RefusedCall>> {
    let contract = Contract::new(Arc::new(fixture::notes())).unwrap();
    contract.route(sent.as_object().unwrap().clone(), &ToolView::all_actions())
}

/// Checks the action, its parameters and the key that is echoed.
fn check(sent: Value, key: &str, action: &str, expected: Value) {
    let routed = route(&sent).unwrap_or_else(|refused| panic!("{sent}: {}", refused.failure));
    let CallTarget::Action { action: index, params } = routed.target else { panic!("{sent} is `describe`") };
    assert_eq!(fixture::notes().actions[index].name, action, "{sent}");
    assert_eq!(Value::Object(params), expected, "{sent}");
    assert_eq!((routed.command.key, routed.command.name.as_deref()), (key, Some(action)), "{sent}");
}

#[test]
fn all_accepted_shapes_are_equivalent() {
    let expected = json!({"text": "x", "tags": ["a"]});
    for (key, sent) in [
        ("action", json!({"action": "add", "text": "x", "tags": ["a"]})),
        ("action", json!({"action": "add", "params": {"text": "x", "tags": ["a"]}})),
        ("cmd", json!({"cmd": "add", "params": {"text": "x", "tags": ["a"]}})),
        ("cmd", json!({"cmd": "add", "text": "x", "tags": ["a"]})),
        ("action", json!({"action": "add", "text": "x", "params": {"tags": ["a"]}})),
        ("action", json!({"action": "add", "text": "x", "params": {"text": "x", "tags": ["a"]}})),
        ("action", json!({"action": "add", "cmd": "add", "text": "x", "tags": ["a"]})),
        ("action", json!({"action": "add", "cmd": "ADD", "text": "x", "tags": ["a"]})),
        ("action", json!({"action": "add", "text": "x", "tags": ["a"], "params": {"action": "Add"}})),
        ("cmd", json!({"cmd": "add", "text": "x", "tags": ["a"], "params": {"cmd": "ADD"}})),
        ("action", json!({"action": "add", "params": "{\"text\": \"x\", \"tags\": [\"a\"]}"})),
        ("action", json!({"params": {"action": "add", "text": "x", "tags": ["a"]}})),
        ("action", json!({"action": "add", "params": {"params": {"text": "x"}, "tags": ["a"]}})),
        ("action", json!({"action": "add", "cmd": null, "params": null, "text": "x", "tags": ["a"]})),
        ("action", json!({"action": "Add", "text": "x", "tags": ["a"]})),
    ] {
        check(sent, key, "add", expected.clone());
    }
    check(json!({"action": "RM", "id": "n_1"}), "action", "delete", json!({"id": "n_1"}));
    check(json!({"action": "list"}), "action", "list", json!({}));
}

#[test]
fn host_arguments_are_accepted_beside_and_inside_params() {
    for sent in [
        json!({"action": "list", "detail": "full", "wait": false, "confirm": true}),
        json!({"action": "list", "params": {"detail": "full", "wait": "false", "confirm": "True"}}),
        json!({"action": "list", "detail": "full", "params": {"detail": "full", "wait": false, "confirm": true}}),
        json!({"action": "list", "detail": "Full", "wait": false, "confirm": true}),
        json!({"action": "list", "detail": "FULL", "wait": "false", "confirm": "TRUE",
            "params": {"detail": "full", "wait": false, "confirm": true}}),
    ] {
        let routed = route(&sent).unwrap();
        assert_eq!(
            (routed.detail, routed.wait, routed.confirm),
            (Detail::Full, Some(false), Some(true)),
            "{sent}"
        );
        assert!(
            matches!(routed.target, CallTarget::Action { ref params, .. } if params.is_empty()),
            "{sent}"
        );
    }
    let routed = route(&json!({"action": "list", "detail": null, "wait": null})).unwrap();
    assert_eq!((routed.detail, routed.wait, routed.confirm), (Detail::Standard, None, None));
}

#[test]
fn describe_is_a_host_action() {
    for (sent, expected) in [
        (json!({"action": "describe"}), None),
        (json!({"action": "Describe", "of": null}), None),
        (json!({"cmd": "describe", "params": {"of": "add"}}), Some("add")),
    ] {
        let routed = route(&sent).unwrap();
        assert_eq!(routed.command.name.as_deref(), Some("describe"));
        assert_eq!(
            routed.target,
            CallTarget::Describe(DescribeRequest {
                of: expected.map(str::to_owned),
                ..DescribeRequest::default()
            }),
            "{sent}"
        );
    }
}

#[test]
fn refused_calls_are_explained() {
    use std::fmt::Write as _;
    let mut out = String::new();
    for sent in [
        json!({}),
        json!({"text": "x"}),
        json!({"Action": "add", "text": "x"}),
        json!({"command": "add", "text": "x"}),
        json!({"action": "x"}),
        json!({"action": "serch", "query": "x"}),
        json!({"action": "serach", "query": "x"}),
        json!({"action": "notes.search", "query": "x"}),
        json!({"action": "\u{430}dd", "text": "x"}),
        json!({"cmd": "remove"}),
        json!({"action": "run_status"}),
        json!({"action": ""}),
        json!({"action": "a\u{202e}\n".repeat(100)}),
        json!({"action": 5}),
        json!({"cmd": ["add"]}),
        json!({"action": "add", "cmd": "list"}),
        json!({"action": "add", "cmd": "nothing"}),
        json!({"action": "add", "params": {"action": "list"}}),
        json!({"action": "add", "params": 5}),
        json!({"action": "add", "params": "text"}),
        json!({"action": "add", "params": "[1]"}),
        json!({"action": "add", "text": "x", "params": {"text": "y"}}),
        json!({"action": "list", "detail": "high"}),
        json!({"action": "list", "detail": 1}),
        json!({"action": "list", "detail": "full", "params": {"detail": "minimal"}}),
        json!({"action": "list", "wait": 1}),
        json!({"action": "list", "confirm": "maybe"}),
        json!({"action": "describe", "of": 5}),
        json!({"action": "describe", "name": "add"}),
    ] {
        let refused = route(&sent).unwrap_err();
        let RefusedCall { command, failure } = *refused;
        let _ = writeln!(
            out,
            "{}\n  {}={} {}{}",
            show::json(&sent, 100),
            command.key,
            command.name.as_deref().unwrap_or("-"),
            failure.message,
            failure.hint.map_or_else(String::new, |hint| format!("\n  hint: {hint}"))
        );
        assert_eq!(failure.code, code::INVALID_PARAMS);
    }
    insta::assert_snapshot!("refused", out);
}

#[test]
fn the_default_action() {
    let mut surface = fixture::notes();
    surface.default_action = Some("list".into());
    let contract = Contract::new(Arc::new(surface)).unwrap();
    let routed =
        contract.route(json!({"limit": 5}).as_object().unwrap().clone(), &ToolView::all_actions()).unwrap();
    assert_eq!(routed.command, Command::action("list"));
    let one = Contract::new(Arc::new(fixture::one(json!({"p": true}), json!([])))).unwrap();
    let routed = one.route(json!({"p": 5}).as_object().unwrap().clone(), &ToolView::all_actions()).unwrap();
    assert_eq!(routed.command, Command::action("go"));
    assert!(matches!(routed.target, CallTarget::Action { action: 0, params } if params["p"] == 5));
}
