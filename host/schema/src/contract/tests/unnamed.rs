//! Calls without an action to a facade that has a default action.

use std::{fmt::Write as _, sync::Arc};

use loggia_facade::{Effect, Surface};
use serde_json::{Value, json};

use crate::{
    contract::{build::Contract, routed::RefusedCall},
    model::{
        action_policy::ActionPolicy,
        action_set::ActionSet,
        view::{CommandTarget, ToolView},
    },
    tests::fixture,
    text::show,
};

fn bank() -> Surface {
    let action = |name: &str, effect: Effect, properties: Value, required: Value| {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        loggia_facade::Action { effect, ..fixture::action(name, schema) }
    };
    let text = || json!({"type": "string"});
    let mut surface = fixture::surface(
        "bank",
        vec![
            action("close_account", Effect::Destructive, json!({"account": text()}), json!(["account"])),
            action(
                "list_accounts",
                Effect::Read,
                json!({"limit": {"type": "integer", "default": 5, "maximum": 9}}),
                json!([]),
            ),
            action(
                "transfer",
                Effect::Write,
                json!({"account": text(), "to": text(), "amount": {"type": "number"}}),
                json!(["account", "amount"]),
            ),
            action("get_balance", Effect::Read, json!({"account": text()}), json!(["account"])),
            action("limits", Effect::Read, json!({"limits": text(), "account": text()}), json!(["account"])),
        ],
    );
    surface.default_action = Some("list_accounts".into());
    surface
}

fn route(contract: &Contract, sent: &Value, view: &ToolView) -> Result<Option<String>, Box<RefusedCall>> {
    contract.route(sent.as_object().unwrap().clone(), view).map(|routed| routed.command.name)
}

#[test]
fn the_default_action_runs_where_its_parameters_fit() {
    let contract = Contract::new(Arc::new(bank())).unwrap();
    for sent in [
        json!({}),
        json!({"limit": 3}),
        json!({"limit": "3"}),
        json!({"limit": 3, "account": null}),
        json!({"params": {"limit": 3}}),
        // Refused by its own failure, which is better.
        json!({"limit": 99}),
        json!({"limit": "many"}),
        json!({"limt": 3}),
        json!({"limits": "x"}),
        json!({"account": "x", "nothing": 1}),
        json!({"command": "list the accounts"}),
    ] {
        let name = route(&contract, &sent, &ToolView::all_actions());
        assert_eq!(name.unwrap().as_deref(), Some("list_accounts"), "{sent}");
    }
}

#[test]
fn parameters_of_other_actions_need_an_action() {
    let contract = Contract::new(Arc::new(bank())).unwrap();
    let contract = contract.with_policy(ActionPolicy { batch: true, ..ActionPolicy::default() }).unwrap();
    let mut out = String::new();
    for sent in [
        json!({"account": "x", "amount": 3}),
        json!({"amount": 3}),
        json!({"account": "x"}),
        json!({"params": {"account": "x"}}),
        json!({"account": "x", "limits": "y"}),
        json!({"items": [{"action": "list_accounts"}]}),
        json!({"actoin": "transfer", "account": "x", "amount": 3}),
    ] {
        let RefusedCall { command, failure } =
            *route(&contract, &sent, &ToolView::all_actions()).unwrap_err();
        assert_eq!(command.name, None, "{sent}");
        let _ = writeln!(out, "{}\n  {}", show::json(&sent, 100), failure.message);
        for (name, value) in
            [("hint", failure.hint), ("example", failure.example.map(|value| value.to_string()))]
        {
            if let Some(value) = value {
                let _ = writeln!(out, "  {name}: {value}");
            }
        }
    }
    insta::assert_snapshot!("unnamed", out);
}

#[test]
fn a_default_without_its_required_parameters_gives_way() {
    let mut surface = bank();
    surface.default_action = Some("transfer".into());
    let contract = Contract::new(Arc::new(surface)).unwrap();
    let message = |sent: Value| {
        route(&contract, &sent, &ToolView::all_actions()).map_err(|refused| refused.failure.message)
    };
    assert_eq!(
        message(json!({"account": "x"})).unwrap_err(),
        "`action` is required: the default, `transfer`, needs other parameters. Actions that take these parameters: \
         get_balance, limits, close_account."
    );
    // No other action is complete with these.
    assert_eq!(message(json!({"to": "x"})).unwrap().as_deref(), Some("transfer"));
    assert_eq!(message(json!({})).unwrap().as_deref(), Some("transfer"));
}

#[test]
fn examples_are_valid_calls_of_the_first_action() {
    let contract = Contract::new(Arc::new(bank())).unwrap();
    let view = ToolView::all_actions();
    let refused = route(&contract, &json!({"account": "x", "amount": 3}), &view).unwrap_err();
    let mut example = refused.failure.example.unwrap().as_object().unwrap().clone();
    assert_eq!(example.shift_remove("action").unwrap(), "transfer");
    contract.prepare(contract.action("transfer").unwrap(), example).unwrap();
}

#[test]
fn only_actions_of_the_tool_are_named() {
    let contract = Contract::new(Arc::new(bank())).unwrap();
    // `list_accounts`, `get_balance`: what a caller with fewer rights sees.
    let default = Some(CommandTarget::Action(1));
    let view = ToolView::new(ActionSet::from_indices([1, 3]), default, Arc::default());
    let refused = route(&contract, &json!({"account": "x"}), &view).unwrap_err();
    assert_eq!(
        refused.failure.message,
        "`action` is required: the default, `list_accounts`, does not take `account`. Actions that take these \
         parameters: get_balance."
    );
    assert!(route(&contract, &json!({"account": "x", "amount": 3}), &view).is_ok());
    // A tool that is one action takes every call.
    let view = ToolView::new(ActionSet::single(1), default, Arc::default());
    assert!(route(&contract, &json!({"account": "x"}), &view).is_ok());
}
