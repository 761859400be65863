//! Calls of host actions.

use std::{fmt::Write as _, sync::Arc};

use loggia_facade::{Failure, code};
use serde_json::{Value, json};

use crate::{
    contract::{
        build::Contract,
        routed::{BatchMode, CallTarget, DescribeRequest, RoutedCall},
    },
    model::{action_policy::ActionPolicy, host_action::HostAction, view::ToolView},
    tests::fixture,
};

fn contract() -> Contract {
    let mut surface = fixture::notes();
    surface.actions[0].long_running = true;
    Contract::new(Arc::new(surface))
        .unwrap()
        .with_policy(ActionPolicy { batch: true, ..ActionPolicy::default() })
        .unwrap()
}

#[test]
fn host_actions_are_routed_and_slips_fixed() {
    let run = |id: Option<&str>, include_trace| CallTarget::RunStatus {
        run_id: id.map(str::to_owned),
        include_trace,
    };
    let batch = |items: Value, mode| CallTarget::Batch {
        items: items.as_array().unwrap().iter().map(|item| item.as_object().unwrap().clone()).collect(),
        mode,
    };
    let call = json!([{"action": "get", "id": "n_1"}]);
    for (sent, expected) in [
        (json!({"action": "run_status"}), run(None, false)),
        (
            json!({"action": "run_status", "run_id": "run_1", "include_trace": "True"}),
            run(Some("run_1"), true),
        ),
        (json!({"action": "status", "run_id": "run_1"}), run(Some("run_1"), false)),
        (json!({"action": "result", "run_id": "run_1", "wait": true}), run(Some("run_1"), true)),
        (json!({"action": "result", "run_id": null, "include_trace": false}), run(None, false)),
        (
            json!({"cmd": "RUN_CANCEL", "params": {"run_id": "run_1"}}),
            CallTarget::RunCancel { run_id: "run_1".into() },
        ),
        (json!({"action": "describe", "of": null}), CallTarget::Describe(DescribeRequest::default())),
        (json!({"action": "batch", "items": call}), batch(call.clone(), BatchMode::Stop)),
        (
            json!({"action": "batch", "items": call.to_string(), "mode": "Continue"}),
            batch(call.clone(), BatchMode::Continue),
        ),
        (
            json!({"action": "batch", "items": ["{\"action\": \"list\"}"]}),
            batch(json!([{"action": "list"}]), BatchMode::Stop),
        ),
    ] {
        let routed = contract().route(sent.as_object().unwrap().clone(), &ToolView::all_actions());
        let RoutedCall { target, .. } =
            routed.unwrap_or_else(|refused| panic!("{sent}: {}", refused.failure));
        assert_eq!(target, expected, "{sent}");
    }
}

#[test]
fn invalid_calls_of_host_actions_are_explained() {
    let mut out = String::new();
    for sent in [
        json!({"action": "describe", "of": 5}),
        json!({"action": "describe", "name": "add"}),
        json!({"action": "describe", "depth": "s"}),
        json!({"action": "run_status", "run_id": 7, "include_trace": "maybe"}),
        json!({"action": "run_status", "runId": "run_1"}),
        json!({"action": "run_cancel"}),
        json!({"action": "run_cancel", "id": "run_1"}),
        json!({"action": "batch"}),
        json!({"action": "batch", "items": []}),
        json!({"action": "batch", "items": "add, list"}),
        json!({"action": "batch", "items": [{"action": "list"}, "list"], "mode": "stp"}),
        json!({"action": "batch", "items": vec![json!({}); 51]}),
        json!({"action": "batch", "calls": [], "mode": "abort"}),
    ] {
        let refused =
            contract().route(sent.as_object().unwrap().clone(), &ToolView::all_actions()).unwrap_err();
        let Failure { code, message, hint, expected, example, .. } = refused.failure;
        assert_eq!(code, code::INVALID_PARAMS);
        let _ = writeln!(out, "{}\n  {message}", crate::text::show::json(&sent, 100));
        for text in [hint, expected, example.map(|example| example.to_string())] {
            let _ = writeln!(out, "  {}", text.as_deref().unwrap_or("-"));
        }
    }
    insta::assert_snapshot!("asked", out);
}

#[test]
fn failures_of_batches_hide_items_with_secrets() {
    let terms = ActionPolicy { batch: true, ..ActionPolicy::default() };
    let contract = Contract::new(Arc::new(fixture::settings())).unwrap().with_policy(terms).unwrap();
    for (sent, expected) in [
        (json!({"action": "batch", "items": "[{\"token\": \"77665544\""}), "`items` must be an array"),
        (json!({"action": "batch", "items": [{}, ["77665544"]]}), "`items[1]` must be an object"),
        (json!({"action": "set", "params": "token=77665544"}), "`params` must be an object (got a string)"),
        (json!({"action": {"token": "77665544"}}), "`action` must be a string (got an object)"),
        (
            json!({"action": "set", "detail": "77665544"}),
            "`detail` must be one of minimal, standard, full (got a string)",
        ),
        (
            json!({"action": "set", "token": "77665544", "params": {"token": "11223344"}}),
            "`token` is given twice, outside and inside `params`, with different values",
        ),
    ] {
        let Failure { message, .. } =
            contract.route(sent.as_object().unwrap().clone(), &ToolView::all_actions()).unwrap_err().failure;
        assert!(message.starts_with(expected), "{message}");
        assert!(!message.contains("77665544"), "{message}");
    }
}

#[test]
fn examples_of_host_actions_are_valid_calls() {
    for own in HostAction::ALL {
        let example = contract().host_example(own, &ToolView::all_actions());
        let routed = contract().route(example.as_object().unwrap().clone(), &ToolView::all_actions());
        assert!(routed.is_ok_and(|routed| routed.command.name.as_deref() == Some(own.name())), "{example}");
    }
}
