//! Combinations: each way in which a step ends without completing, with each kind of dependent step.

use std::time::Duration;

use loggia_facade::Answer;
use serde_json::{Value, json};

use super::{
    super::StepChange,
    plans::plan,
    simulator::{Asked, Comes, Run, Told, fails, ok, run, says},
};

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Ways in which step `a` may end without an output of its own, with the resulting status.
fn ends() -> Vec<(Value, &'static str)> {
    let continued = json!({"action": "continue"});
    vec![
        (json!({"tool": "t.run", "condition": "false"}), "skipped"),
        (json!({"type": "elicitation", "condition": "false"}), "skipped"),
        (
            json!({"type": "forEach", "collection": "[1]", "step": {"tool": "t.run"}, "condition": "false"}),
            "skipped",
        ),
        (json!({"tool": "t.fails", "onError": continued}), "failed"),
        (json!({"tool": "t.hangs", "timeout": 50, "onError": continued}), "failed"),
        (json!({"tool": "t.run", "condition": "perhaps", "onError": continued}), "failed"),
        (json!({"type": "elicitation", "message": "No?", "onError": continued}), "failed"),
        (
            json!({"type": "elicitation", "message": "{{index .params.list 1}}", "onError": continued}),
            "failed",
        ),
        (
            json!({"type": "forEach", "collection": "none", "step": {"tool": "t.run"}, "onError": continued}),
            "failed",
        ),
    ]
}

fn answer(asked: &Asked) -> Told {
    match (asked.tool.as_str(), &asked.params) {
        ("t.fails", _) => fails(1, "no"),
        ("t.hangs", _) => None,
        ("", message) if *message == json!("No?") => says(1, Answer::Declined),
        ("", _) => says(1, Answer::Accepted(json!({}))),
        _ => ok(1, json!({"of": asked.id})),
    }
}

#[test]
fn dependents_run_with_the_default_of_any_ended_step() {
    for (mut first, status) in ends() {
        first["id"] = "a".into();
        first["defaultResults"] = json!({"items": ["x", "y"], "on": true, "nothing": null});
        let plan = plan(json!([
            first,
            {"id": "call", "tool": "t.run", "dependsOn": ["a"], "arguments": {"all": "{{.steps.a.output}}",
                "nothing": "{{.steps.a.output.nothing}}", "status": "{{.steps.a.status}}"}},
            {"id": "each", "type": "forEach", "dependsOn": ["a"], "collection": "{{.steps.a.output.items}}",
                "step": {"tool": "t.run", "arguments": {"item": "{{.forEach.item}}", "on": "{{.steps.a.output.on}}"}}},
            {"id": "ask", "type": "elicitation", "dependsOn": ["a"], "message": "{{len .steps.a.output.items}}?"},
            {"id": "on", "tool": "t.run", "dependsOn": ["a"], "condition": "{{.steps.a.output.on}}"},
            {"id": "off", "tool": "t.run", "dependsOn": ["a"], "condition": "{{not .steps.a.output.on}}"},
            {"id": "last", "tool": "t.run", "dependsOn": ["off", "on", "ask", "each", "call"]},
        ]));
        let run = run(&plan, json!({"list": []}), answer);
        let default = plan.workflow.steps[0].default_results.clone().unwrap();
        assert_eq!(
            *run.params("call"),
            json!({"all": default, "nothing": null, "status": status}),
            "{first:?}"
        );
        assert_eq!(*run.params("each"), json!({"item": "x", "on": "true"}));
        assert_eq!(*run.params("ask"), "2?");
        assert!(run.order().contains(&"on") && !run.order().contains(&"off"));
        assert_eq!(*run.result(), json!({"of": "last"}));
    }
}

#[test]
fn without_a_default_its_output_is_an_empty_object() {
    for (mut first, status) in ends() {
        first["id"] = "a".into();
        let plan = plan(json!([first, {"id": "b", "tool": "t.run", "dependsOn": ["a"], "arguments": {
            "x": "{{.steps.a.output.x}}", "all": "{{.steps.a.output}}", "text": "all: {{.steps.a.output}}", "status": "{{.steps.a.status}}",
            "any": "{{if .steps.a.output}}some{{else}}none{{end}}", "json": "{{json .steps.a.output}} {{json .steps.a.content}}"}}]));
        let run = run(&plan, json!({"list": []}), answer);
        let expected = json!({"x": "<no value>", "all": {}, "text": "all: map[]", "status": status, "any": "none", "json": "{} {}"});
        assert_eq!(*run.params("b"), expected, "{first:?}");
    }
}

/// Plan of `flow` next to a question whose refusal skips the remaining steps.
fn beside_a_no(flow: Value, answer: impl Fn(&Asked) -> Told) -> Run {
    let steps = json!([
        flow,
        {"id": "ask", "type": "elicitation", "onDecline": "skip_remaining"},
        {"id": "after", "tool": "t.run", "dependsOn": ["flow"]},
    ]);
    let plan = plan(steps);
    let run = run(&plan, json!({}), |asked| match asked.id.as_str() {
        "ask" => says(15, Answer::Declined),
        _ => answer(asked),
    });
    assert!(!run.order().contains(&"after"));
    run
}

#[test]
fn active_steps_complete_when_the_rest_is_skipped() {
    let each = json!({"id": "flow", "type": "forEach", "collection": "[1, 2, 3]", "maxParallel": 1, "step": {"tool": "t.run"}});
    let run = beside_a_no(each, |_| ok(10, json!({})));
    assert_eq!((run.order().len(), run.took), (4, ms(30)));

    let on_error = json!({"action": "retry", "retryCount": 2, "retryDelay": 20});
    let tried = beside_a_no(json!({"id": "flow", "tool": "t.run", "onError": on_error}), |asked| {
        if asked.task.attempt == 0 { fails(5, "busy") } else { ok(10, json!({})) }
    });
    assert_eq!(tried.order(), ["flow", "ask", "flow"]);
    assert_eq!(*tried.result(), json!({"action": "decline", "skipped": true}));

    let failed = beside_a_no(json!({"id": "flow", "tool": "t.run"}), |_| fails(20, "no"));
    let report = failed.report();
    assert_eq!((report.step.as_deref(), &report.completed[..]), (Some("flow"), &["ask".to_owned()][..]));
    assert_eq!(report.skipped, ["after"]);
}

#[test]
fn a_question_that_skips_the_rest_leaves_other_questions_open() {
    let plan = plan(json!([
        {"id": "one", "type": "elicitation", "onDecline": "skip_remaining"},
        {"id": "two", "type": "elicitation"},
        {"id": "after", "tool": "t.run", "dependsOn": ["two"]},
    ]));
    let run = run(&plan, json!({}), |asked| match asked.id.as_str() {
        "one" => says(1, Answer::Declined),
        _ => says(9, Answer::Accepted(json!({"x": 1}))),
    });
    assert_eq!((run.order(), run.took), (vec!["one", "two"], ms(9)));
    assert_eq!(*run.result(), json!({"action": "accept", "content": {"x": 1}}));
}

/// Pauses between attempts count towards the step's timeout and the workflow's.
#[test]
fn time_runs_on_in_pauses_and_stands_still_while_a_person_is_asked() {
    let on_error = json!({"action": "retry", "retryCount": 9, "retryDelay": 100});
    let flow = |more: Value| {
        let steps = json!([{"id": "a", "tool": "t.run", "onError": on_error}, more]);
        plan(json!({"timeout": 400, "steps": steps}))
    };
    let busy = |asked: &Asked| match asked.id.as_str() {
        "a" => fails(0, "busy"),
        "ask" => says(10_000, Answer::Accepted(json!({}))),
        _ => ok(1, json!({})),
    };
    let paused = run(&flow(json!({"id": "b", "tool": "t.run"})), json!({}), busy);
    assert_eq!((paused.took, paused.report().code.as_str()), (ms(400), "timed_out"));
    assert_eq!(
        (&paused.report().stopped[..], paused.dropped.len()),
        (&["a".to_owned()][..], 0),
        "nothing was under way"
    );
    // The step ends after its attempts: an open question stops the workflow's clock.
    let asked = run(&flow(json!({"id": "ask", "type": "elicitation"})), json!({}), busy);
    assert_eq!((asked.report().code.as_str(), asked.order().len()), ("step_failed", 11));
    assert!(asked.took > ms(400), "{:?}", asked.took);
}

/// The step's deadline coincides with the end of its pause: too late for a retry.
#[test]
fn a_try_that_would_begin_when_the_steps_time_is_up_is_none() {
    let steps = |timeout: u64| {
        let on_error = json!({"action": "retry", "retryCount": 9, "retryDelay": 1});
        plan(json!([{"id": "a", "tool": "t.run", "timeout": timeout, "onError": on_error}]))
    };
    let wants = |asked: &Asked| {
        let failure = loggia_facade::Failure {
            retry_after_ms: Some(100),
            ..loggia_facade::Failure::new("unavailable", "busy")
        };
        (asked.task.attempt < 9).then_some((0, Comes::Fail(failure)))
    };
    assert_eq!(run(&steps(100), json!({}), wants).asked.len(), 1);
    let two = run(&steps(101), json!({}), wants);
    assert_eq!((two.asked.len(), two.took), (2, ms(100)));
    assert!(matches!(two.news.last().unwrap().change, StepChange::Failed(_)));
}
