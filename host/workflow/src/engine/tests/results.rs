//! Conditions, data passed between steps, and results.

use serde_json::{Value, json};

use super::{
    super::StepChange,
    plans::{plan, plan_with},
    simulator::{Asked, Told, fails, ok, run},
};

fn echo(asked: &Asked) -> Told {
    ok(1, json!({"of": asked.id, "given": asked.params}))
}

// Cases 9 and 24.
#[test]
fn skipped_steps_have_their_default() {
    for (condition, params, called) in [
        ("{{.params.on}}", json!({"on": true}), true),
        ("{{.params.on}}", json!({"on": false}), false),
        ("True", json!({}), true),
        (" {{.params.on}} ", json!({"on": "FALSE"}), false),
        ("{{if eq .steps.first.status \"completed\"}}true{{else}}false{{end}}", json!({}), true),
    ] {
        let plan = plan(json!([
            {"id": "first", "tool": "t.run"},
            {"id": "second", "tool": "t.run", "condition": condition, "dependsOn": ["first"], "defaultResults": {"of": "nobody"}},
            {"id": "third", "tool": "t.run", "dependsOn": ["second"], "arguments": {
                "of": "{{.steps.second.output.of}}", "status": "{{.steps.second.status}}"}},
        ]));
        let run = run(&plan, params, echo);
        let (of, status) = if called { ("second", "completed") } else { ("nobody", "skipped") };
        assert_eq!(*run.params("third"), json!({"of": of, "status": status}), "{condition}");
        assert_eq!(run.order().contains(&"second"), called);
    }
}

#[test]
fn a_condition_that_is_neither_fails_the_step() {
    for (condition, message) in [
        ("not_boolean", "condition must evaluate to 'true' or 'false', got: \"not_boolean\""),
        ("{{.params.nope}}", "condition must evaluate to 'true' or 'false', got: \"<no value>\""),
    ] {
        let run = run(&plan(json!([{"id": "a", "tool": "t.run", "condition": condition}])), json!({}), echo);
        let report = run.report();
        assert_eq!(
            report.message,
            format!("template expansion failed: failed to evaluate condition for step a: {message}")
        );
        assert_eq!(run.asked.len(), 0);
    }
}

// Row 13: ToolHive uses the default only for failed calls.
#[test]
fn a_default_replaces_any_missing_output() {
    let bad = "{{index .params.list 9}}";
    for first in [
        json!({"tool": "t.fails"}),
        json!({"tool": "t.run", "arguments": {"x": bad}}),
        json!({"tool": "t.run", "condition": "perhaps"}),
        json!({"tool": "t.run", "condition": "false"}),
        json!({"type": "elicitation", "message": bad}),
        json!({"type": "forEach", "collection": "no list", "step": {"tool": "t.run"}}),
    ] {
        let mut first = first;
        first["id"] = "first".into();
        first["onError"] = json!({"action": "continue"});
        first["defaultResults"] = json!({"data": [1]});
        let plan = plan(json!([first, {"id": "second", "tool": "t.run", "dependsOn": ["first"],
            "arguments": {"data": "{{json .steps.first.output.data}}"}}]));
        let run = run(&plan, json!({"list": []}), |asked| {
            if asked.tool == "t.fails" { fails(1, "no") } else { echo(asked) }
        });
        assert_eq!(*run.params("second"), json!({"data": "[1]"}), "{first}");
    }
}

#[test]
fn a_template_that_fails_is_not_tried_again() {
    let on_error = json!({"action": "retry", "retryCount": 3, "retryDelay": 1});
    let plan = plan(
        json!([{"id": "a", "tool": "t.run", "arguments": {"k": {"deep": ["{{index .params.list 9}}"]}}, "onError": on_error}]),
    );
    let run = run(&plan, json!({"list": []}), echo);
    assert_eq!(run.asked.len(), 0);
    let message = &run.report().message;
    let expected = "template expansion failed: failed to expand arguments for step a: failed to expand value for key \"k\": ";
    assert!(message.starts_with(expected), "{message}");
}

// Cases 20, 27, 28 and 29; 27 in the form of our own files, too.
#[test]
fn arguments_are_converted_to_the_action_types() {
    let arguments = json!({"n": "{{.params.n}}", "text": "{{.params.n}}", "list": "{{.params.list}}", "other": "{{.params.n}}",
        "nested": {"deep": ["{{.params.n}}", "n is {{.params.n}}"]}, "null": "{{.params.null}}"});
    let tools = json!({"t.run": {"n": {"type": "integer"}, "text": {"type": "string"}, "list": {"type": "array"},
        "nested": {"properties": {"deep": {"items": {"type": "number"}}}}}});
    for (strict, n, other) in
        [(false, json!(42), json!("42")), (true, json!(42), json!(42)), (false, json!("42"), json!("42"))]
    {
        let steps =
            json!({"strict": strict, "steps": [{"id": "a", "tool": "t.run", "arguments": arguments}]});
        let run =
            run(&plan_with(steps, tools.clone()), json!({"n": n, "list": [1, {"x": 2}], "null": null}), echo);
        let expected = json!({"n": 42, "text": "42", "list": [1, {"x": 2}], "other": other,
            "nested": {"deep": [42, "n is 42"]}, "null": null});
        assert_eq!(*run.params("a"), expected, "strict: {strict}");
    }
}

// Literals are converted as well, as in ToolHive.
#[test]
fn literal_arguments_are_converted_too() {
    let arguments =
        json!({"n": "042", "any": "042", "text": "042", "nested": {"deep": ["1e3", 2, "x"]}, "on": "T"});
    let tools = json!({"t.run": {"n": {"type": "integer"}, "text": {"type": "string"}, "on": {"type": "boolean"},
        "nested": {"properties": {"deep": {"items": {"type": "number"}}}}}});
    let plan = plan_with(json!([{"id": "a", "tool": "t.run", "arguments": arguments}]), tools);
    let expected =
        json!({"n": 42, "any": "042", "text": "042", "nested": {"deep": [1000, 2, "x"]}, "on": true});
    assert_eq!(*run(&plan, json!({}), echo).params("a"), expected);
}

#[test]
fn strict_files_never_send_missing_values() {
    let steps = |strict: bool| {
        plan(
            json!({"strict": strict, "steps": [{"id": "a", "tool": "t.run", "arguments": {"x": "{{.params.nope}}"}}]}),
        )
    };
    assert_eq!(*run(&steps(false), json!({}), echo).params("a"), json!({"x": "<no value>"}));
    let refused = run(&steps(true), json!({}), echo);
    assert!(refused.report().message.contains("nope"), "{}", refused.report().message);
}

// Case 12: ToolHive takes the step that ended last, which depends on timing.
#[test]
fn without_an_output_the_result_is_that_of_the_deepest_and_last_step() {
    for (steps, expected) in [
        (json!([{"id": "a", "tool": "t.run"}, {"id": "b", "tool": "t.run"}]), json!("b")),
        (json!([{"id": "a", "tool": "t.run", "dependsOn": ["b"]}, {"id": "b", "tool": "t.run"}]), json!("a")),
        (
            json!([{"id": "a", "tool": "t.run"}, {"id": "b", "tool": "t.run", "dependsOn": ["a"]}, {"id": "c", "tool": "t.run"},
                {"id": "d", "tool": "t.run", "dependsOn": ["c"], "condition": "false"}]),
            json!("b"),
        ),
        (json!([{"id": "a", "tool": "t.run", "condition": "false"}]), Value::Null),
    ] {
        let run = run(&plan(steps.clone()), json!({}), echo);
        assert_eq!(run.result().get("of").cloned().unwrap_or_default(), expected, "{steps}");
    }
}

// Cases 37, 38 and 39.
#[test]
fn an_output_is_built_from_the_steps() {
    let data = json!({"id": 1234567, "text": "42", "flag": "true", "object": {"a": 1}, "json": "{\"a\": 1.5}", "empty": ""});
    let make = |property: Value| {
        let output = json!({"properties": {"p": property}});
        let steps = json!([
            {"id": "a", "tool": "t.run"},
            {"id": "off", "tool": "t.run", "condition": "false"},
        ]);
        let run = run(&plan(json!({"steps": steps, "output": output})), json!({}), |_| ok(7, data.clone()));
        match &run.outcome {
            super::super::RunOutcome::Completed(value) => value["p"].clone(),
            super::super::RunOutcome::Failed(report) => json!({"error": report.message}),
        }
    };
    for (kind, value, default, expected) in [
        ("integer", "{{.steps.a.output.text}}", None, json!(42)),
        ("integer", "{{.steps.a.output.id}}", None, json!(1234567)),
        ("number", "{{.steps.a.output.text}}", None, json!(42)),
        ("boolean", "{{.steps.a.output.flag}}", None, json!(true)),
        ("object", "{{.steps.a.output.object}}", None, json!({"a": 1})),
        ("object", "{{json .steps.a.output.object}}", None, json!({"a": 1})),
        ("object", "{{.steps.a.output.json}}", None, json!({"a": 1.5})),
        ("string", "{{.steps.a.output.id}} of {{.workflow.step_count}}", None, json!("1234567 of 2")),
        ("integer", "{{.workflow.duration_ms}}", None, json!(7)),
        ("string", "{{.steps.a.output.nope}}", None, json!("<no value>")),
        ("string", "{{.steps.a.output.nope}}", Some(json!("none")), json!("none")),
        ("string", "{{.steps.a.output.empty}}", Some(json!("none")), json!("")),
        ("string", "{{.steps.off.output.x}}", Some(json!("not_processed")), json!("not_processed")),
        ("integer", "{{.steps.a.output.flag}}", Some(json!("8")), json!(8)),
        (
            "integer",
            "{{.steps.a.output.flag}}",
            None,
            json!({"error": "output construction failed: failed to construct output property \"p\": the value is not of type integer"}),
        ),
    ] {
        let mut property = json!({"type": kind, "value": value});
        if let Some(default) = default {
            property["default"] = default;
        }
        assert_eq!(make(property), expected, "{kind} {value}");
    }
    let nested = json!({"type": "object", "properties": {"a": {"type": "integer", "value": "{{.steps.a.output.text}}"}}});
    assert_eq!(make(nested), json!({"a": 42}));
}

#[test]
fn required_properties_must_exist() {
    let output =
        json!({"properties": {"p": {"type": "string", "value": "{{.params.x}}"}}, "required": ["p"]});
    let plan = plan(json!({"strict": true, "steps": [{"id": "a", "tool": "t.run"}], "output": output}));
    let run = run(&plan, json!({"x": null}), echo);
    assert_eq!(run.report().message, "output construction failed: required output field \"p\" is nil");
    assert_eq!(run.report().completed, ["a"]);
}

#[test]
fn a_failed_step_tells_its_error() {
    let plan = plan(json!([
        {"id": "a", "tool": "t.fails", "onError": {"action": "continue"}},
        {"id": "b", "tool": "t.run", "dependsOn": ["a"], "arguments": {"why": "{{.steps.a.status}}: {{.steps.a.error}}"}},
    ]));
    let run =
        run(&plan, json!({}), |asked| if asked.id == "a" { fails(1, "it is shut") } else { echo(asked) });
    assert_eq!(run.params("b")["why"], "failed: tool call failed: tool t.fails in step a: it is shut");
    assert!(matches!(run.ended(&plan, "a"), StepChange::Failed(_)));
}
