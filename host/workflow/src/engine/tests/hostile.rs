//! Hostile input: parameters and replies cost little and leak no secret.

use loggia_facade::Failure;
use serde_json::{Value, json};

use super::{
    super::{RunEffect, RunEvent, RunPlan, RunStart, begin, step},
    plans::{object, plan, plan_with},
    simulator::{Comes, fails, ok, run},
};

/// Plan of one step that takes a secret.
fn with_secret(steps: Value) -> RunPlan {
    plan(json!({"parameters": {"properties": {"key": {"writeOnly": true}}}, "steps": steps}))
}

#[test]
fn a_huge_secret_takes_no_time_and_is_not_told() {
    let plan = with_secret(json!([{"id": "a", "tool": "t.run", "arguments": {"key": "{{.params.key}}"}}]));
    let secret = "0123456789abcdef".repeat(50_000);
    let failed = run(&plan, json!({"key": secret}), |_| fails(1, "what about 0123456789abcdef"));
    let report = format!("{:?} {:?}", failed.outcome, failed.news);
    assert!(!report.contains("0123456789abcdef"), "{report:.500}");
}

#[test]
fn an_error_shows_no_half_of_a_secret() {
    let secret = "5".repeat(150);
    for step in [
        json!({"id": "a", "tool": "t.run", "condition": "{{.params.key}}"}),
        json!({"id": "a", "type": "forEach", "collection": "keys: {{.params.key}}", "step": {"tool": "t.run"}}),
    ] {
        let failed = run(&with_secret(json!([step])), json!({"key": secret}), |_| ok(1, json!({})));
        let report = format!("{:?} {:?}", failed.outcome, failed.news);
        assert!(report.contains("(redacted)") && !report.contains("555"), "{report}");
    }
}

#[test]
fn secrets_of_an_action_are_redacted_from_its_failure() {
    let retry = json!({"action": "retry", "retryCount": 1, "retryDelay": 1});
    let plan = plan_with(
        json!([{"id": "login", "tool": "t.login"}, {"id": "use", "tool": "t.use", "dependsOn": ["login"], "onError": retry,
            "arguments": {"token": "{{.steps.login.output.token}}"}}]),
        json!({"t.use": {"token": {"type": "string", "x-secret": true}}}),
    );
    let failed = run(&plan, json!({}), |asked| match asked.id.as_str() {
        "login" => ok(1, json!({"token": "tok-834112"})),
        _ => Some((1, Comes::Fail(Failure::new("denied", "no: tok-834112").hint("not tok-834112")))),
    });
    let report = format!("{:?} {:?}", failed.outcome, failed.news);
    assert!(report.contains("no: (redacted)") && !report.contains("834112"), "{report}");
}

#[test]
fn steps_that_end_as_soon_as_they_begin_leave_time_for_others() {
    let failing = json!({"tool": "t.run", "arguments": {"a": "{{index .forEach.item 5}}"}});
    let each = json!({"id": "each", "type": "forEach", "collection": "{{.params.items}}", "maxIterations": 1000,
        "onError": {"action": "continue"}, "step": failing});
    let skipped = |n: usize| json!({"id": format!("s{n}"), "tool": "t.run", "condition": "false"});
    let items: Vec<u32> = (0..1000).collect();
    for steps in [json!([each]), (0..100).map(skipped).collect()] {
        let plan = plan(steps);
        let params = object(json!({"items": items}));
        let one = RunStart { id: "r".into(), start_time: String::new(), params, seed: 1, dry: None };
        let (mut state, mut effects) = begin(&plan, one);
        let mut turns = 0;
        while !effects.iter().any(|effect| matches!(effect, RunEffect::Done(_))) {
            assert!(effects.len() <= 25, "{}", effects.len());
            assert_eq!(state.due(), Some(std::time::Duration::ZERO));
            effects = step(&plan, &mut state, std::time::Duration::ZERO, RunEvent::Due);
            turns += 1;
        }
        assert!(turns >= 9, "{turns}");
    }
}

#[test]
fn loops_over_a_large_reply_do_not_multiply_it() {
    let each = |n: usize| {
        json!({"id": format!("e{n}"), "type": "forEach", "dependsOn": ["list"], "collection": "{{.steps.list.output.items}}",
            "maxIterations": 1000, "step": {"tool": "t.run", "arguments": {"n": 1}}})
    };
    let mut steps = vec![json!({"id": "list", "tool": "t.run"})];
    steps.extend((0..20).map(each));
    let items: Vec<String> = (0..9).map(|_| "x".repeat(1 << 20)).collect();
    let failed = run(&plan(json!(steps)), json!({}), |asked| match asked.id.as_str() {
        "list" => ok(1, json!({"items": items})),
        _ => ok(1, json!({})),
    });
    let message = &failed.report().message;
    assert!(
        message.ends_with("the collection and the replies of this run exceed 64 MiB in total"),
        "{message}"
    );
}
