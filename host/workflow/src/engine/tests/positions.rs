//! Positions: the value of one action as an argument of each type, a condition, a message, a collection, and a part of
//! the result.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    super::RunOutcome,
    plans::{plan, plan_with},
    simulator::{Asked, Comes, Told, ok, run, says},
};

const KINDS: [&str; 6] = ["string", "integer", "number", "boolean", "object", "array"];

fn answer(asked: &Asked) -> Told {
    let given = json!({"map": {"k": 1}, "list": [1, "x"], "text": "x", "whole": 7, "half": 1.5, "large": 1234567.0,
        "huge": 1e21, "yes": true, "json": "[1]", "null": null});
    match asked.tool.as_str() {
        "" => says(1, loggia_facade::Answer::Accepted(json!({}))),
        _ if asked.id == "a" => ok(1, given),
        _ => ok(1, json!({})),
    }
}

/// Returns the result of an action in each position.
fn everywhere(strict: bool, action: &str) -> String {
    let mut told = format!("{action}\n");
    let mut tell = |what: &str, of: Vec<(&str, Value)>| {
        let of: Vec<String> = of.iter().map(|(name, value)| format!("{name} {value}")).collect();
        writeln!(told, "  {what}: {}", of.join(" | ")).unwrap();
    };
    let flow = |second: Value| {
        let mut second = second;
        second["id"] = "b".into();
        second["dependsOn"] = json!(["a"]);
        json!({"strict": strict, "steps": [{"id": "a", "tool": "t.run"}, second]})
    };
    let cause = |outcome: &RunOutcome| match outcome {
        RunOutcome::Completed(value) => value.clone(),
        RunOutcome::Failed(report) => json!({"!": report.cause.as_ref().map(|cause| cause["error"].clone())}),
    };
    // The first parameter has no type.
    let named = || ["any"].into_iter().chain(KINDS);
    let tools = named().map(|kind| (kind.to_owned(), json!({"type": kind}))).skip(1).collect::<Value>();
    let tools = json!({"t.run": tools});
    let arguments: Value = named().map(|kind| (kind.to_owned(), json!(action))).collect();
    let plan_of = plan_with(flow(json!({"tool": "t.run", "arguments": arguments})), tools);
    let called = run(&plan_of, json!({}), answer);
    match called.order().contains(&"b") {
        true => tell("argument", named().map(|kind| (kind, called.params("b")[kind].clone())).collect()),
        false => tell("argument", vec![("", cause(&called.outcome))]),
    }
    let decided = run(&plan(flow(json!({"tool": "t.run", "condition": action}))), json!({}), answer);
    match decided.outcome {
        RunOutcome::Completed(_) => tell("condition", vec![("", json!(decided.order().contains(&"b")))]),
        RunOutcome::Failed(_) => tell("condition", vec![("", cause(&decided.outcome))]),
    }
    let message = format!("It is {action}.");
    let asked = run(&plan(flow(json!({"type": "elicitation", "message": message}))), json!({}), answer);
    match asked.order().contains(&"b") {
        true => tell("message", vec![("", asked.params("b").clone())]),
        false => tell("message", vec![("", cause(&asked.outcome))]),
    }
    let each = flow(
        json!({"type": "forEach", "collection": action, "step": {"tool": "t.run", "arguments": {"i": "{{.forEach.item}}"}}}),
    );
    let each = run(&plan(each), json!({}), answer);
    match &each.outcome {
        RunOutcome::Completed(value) => tell("collection", vec![("", value["count"].clone())]),
        RunOutcome::Failed(report) => tell("collection", vec![("", json!(report.message))]),
    }
    let parts = KINDS.map(|kind| {
        let mut flow = flow(json!({"tool": "t.run"}));
        flow["output"] = json!({"properties": {"p": {"type": kind, "value": action}}});
        let run = run(&plan(flow), json!({}), answer);
        (
            kind,
            if matches!(run.outcome, RunOutcome::Completed(_)) {
                run.result()["p"].clone()
            } else {
                json!("!")
            },
        )
    });
    tell("result", parts.to_vec());
    told
}

#[test]
fn an_action_yields_what_its_position_accepts() {
    let names = [
        "", ".map", ".list", ".text", ".whole", ".half", ".large", ".huge", ".yes", ".json", ".null", ".nope",
    ];
    let told = |strict| -> String {
        names.iter().map(|name| everywhere(strict, &format!("{{{{.steps.a.output{name}}}}}"))).collect()
    };
    insta::assert_snapshot!("of_toolhives_files", told(false));
    insta::assert_snapshot!("of_our_own_files", told(true));
}

#[test]
fn schemas_are_resolved_to_their_kind() {
    let schema = |value: Value| json!({"t.run": {"p": value}});
    for (parameter, text, whole) in [
        (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!(42), json!(7)),
        (json!({"oneOf": [{"type": "integer"}, {"type": "string"}]}), json!("42"), json!("7")),
        (json!({"allOf": [{"type": "number"}]}), json!(42), json!(7)),
        (json!({"enum": [1, 42]}), json!(42), json!(7)),
        (json!({"enum": ["1", "42"]}), json!("42"), json!("7")),
        (json!({"const": 42}), json!(42), json!(7)),
        (json!({"type": ["integer", "null"]}), json!(42), json!(7)),
        (json!({"minimum": 1}), json!("42"), json!("7")),
        (json!(true), json!("42"), json!("7")),
    ] {
        let steps = |argument: &str| json!([{"id": "a", "tool": "t.run"}, {"id": "b", "tool": "t.run", "dependsOn": ["a"], "arguments": {"p": argument}}]);
        let given = |argument: &str| {
            let plan = plan_with(steps(argument), schema(parameter.clone()));
            let reply = |_: &Asked| Some((1, Comes::Reply(json!({"text": "42", "whole": 7}))));
            run(&plan, json!({}), reply).params("b")["p"].clone()
        };
        assert_eq!(given("{{.steps.a.output.text}}"), text, "{parameter}");
        assert_eq!(given("{{.steps.a.output.whole}}"), whole, "{parameter}");
        assert_eq!(given("42"), text, "{parameter}: as it is written");
    }
}
