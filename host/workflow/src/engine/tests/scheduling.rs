//! Scheduling, and arguments of calls.

use std::time::Duration;

use loggia_facade::Failure;
use serde_json::{Value, json};

use super::{
    super::StepChange,
    plans::{plan, plan_with},
    simulator::{Asked, Comes, Run, fails, ok, run},
};

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Start times of the steps.
fn begun(run: &Run) -> Vec<(&str, u64)> {
    run.asked.iter().map(|(at, asked)| (asked.id.as_str(), at.as_millis() as u64)).collect()
}

#[test]
fn eight_independent_steps_of_100_ms_take_100_ms() {
    let steps: Vec<Value> = (0..8).map(|n| json!({"id": format!("s{n}"), "tool": "t.run"})).collect();
    let run = run(&plan(json!(steps)), json!({}), |_| ok(100, json!({})));
    assert_eq!(run.took, ms(100));
    assert_eq!(run.most, 8);
}

#[test]
fn ten_run_at_once_and_the_others_follow_in_the_definitions_order() {
    let steps: Vec<Value> = (0..25).map(|n| json!({"id": format!("s{n:02}"), "tool": "t.run"})).collect();
    let run = run(&plan(json!(steps)), json!({}), |_| ok(100, json!({})));
    assert_eq!((run.took, run.most), (ms(300), 10));
    assert!(run.order().is_sorted(), "{:?}", run.order());
}

// Cases 30 and 32; the second concerns levels: a step waits for its own dependencies only.
#[test]
fn a_step_begins_as_soon_as_its_own_dependencies_have_ended() {
    let plan = plan(json!([
        {"id": "a", "tool": "t.run"},
        {"id": "b", "tool": "t.run"},
        {"id": "c", "tool": "t.run", "dependsOn": ["a"]},
        {"id": "d", "tool": "t.run", "dependsOn": ["a", "b"]},
        {"id": "e", "tool": "t.run", "dependsOn": ["c", "d"]},
    ]));
    let times = |asked: &Asked| if asked.id == "b" { ok(50, json!({})) } else { ok(10, json!({})) };
    let run = run(&plan, json!({}), times);
    assert_eq!(begun(&run), [("a", 0), ("b", 0), ("c", 10), ("d", 50), ("e", 60)]);
    assert_eq!(run.took, ms(70));
}

#[test]
fn a_run_without_steps_that_can_begin_ends_and_one_without_steps_does_too() {
    let mut round = plan(json!([{"id": "a", "tool": "t.run"}]));
    let workflow = std::sync::Arc::make_mut(&mut round.workflow);
    workflow.steps[0].depends_on = vec![0];
    let begin = || super::super::RunStart {
        id: "r".into(),
        start_time: String::new(),
        params: Default::default(),
        seed: 0,
        dry: None,
    };
    let (_, effects) = super::super::begin(&round, begin());
    assert!(format!("{effects:?}").contains("circular dependency"), "case 18, should a check ever miss it");
    let (_, effects) = super::super::begin(&plan(json!([])), begin());
    let done = super::super::RunEffect::Done(Box::new(super::super::RunOutcome::Completed(Value::Null)));
    assert_eq!(effects, [done]);
}

// Case 33, with the workflow's `failureMode`.
#[test]
fn a_failure_that_is_continued_does_not_stop_others() {
    for (mode, on_error) in
        [("continue", json!({"action": "abort"})), ("abort", json!({"action": "continue"}))]
    {
        let plan = plan(json!({"failureMode": mode, "steps": [
            {"id": "a", "tool": "t.run", "onError": on_error},
            {"id": "b", "tool": "t.run"},
            {"id": "c", "tool": "t.run", "dependsOn": ["a"]},
        ]}));
        let run = run(&plan, json!({}), |asked| match asked.id.as_str() {
            "a" => fails(5, "no"),
            id => ok(10, json!({"id": id})),
        });
        assert_eq!(*run.result(), json!({"id": "c"}));
        assert_eq!(
            *run.ended(&plan, "a"),
            StepChange::Failed("tool call failed: tool t.run in step a: no".into())
        );
    }
}

// Cases 21, 22 and 23: retries until success or exhaustion; case 16: the maximum of ten.
#[test]
fn a_step_is_tried_again_as_often_as_it_says() {
    let retrying = |count: u32| {
        let on_error = json!({"action": "retry", "retryCount": count, "retryDelay": 100});
        plan(json!([{"id": "a", "tool": "t.run", "arguments": {"x": 1}, "onError": on_error}]))
    };
    for (count, failures, tries, works) in
        [(1, 1, 2, true), (2, 2, 3, true), (2, 9, 3, false), (10, 99, 11, false)]
    {
        let run = run(&retrying(count), json!({}), |asked| {
            if asked.task.attempt < failures {
                fails(1, "Persistent error")
            } else {
                ok(1, json!({"ok": true}))
            }
        });
        assert_eq!(run.asked.len(), tries, "{count} retries of {failures} failures");
        assert!(
            run.asked
                .iter()
                .all(|(_, asked)| asked.idempotency_key == "run-1/a" && asked.params == json!({"x": 1}))
        );
        if works {
            assert_eq!(*run.result(), json!({"ok": true}));
        } else {
            let report = run.report();
            assert_eq!(report.message, "tool call failed: tool t.run in step a: Persistent error");
            assert_eq!((report.step.as_deref(), report.code.as_str()), (Some("a"), "step_failed"));
        }
    }
}

#[test]
fn pauses_follow_the_rule_and_the_failure() {
    let on_error = json!({"action": "retry", "retryCount": 3, "retryDelay": 100});
    let plan = plan(json!([{"id": "a", "tool": "t.run", "onError": on_error}]));
    let run = run(&plan, json!({}), |asked| {
        let wanted = if asked.task.attempt == 1 { Some(5000) } else { None };
        Some((0, Comes::Fail(Failure { retry_after_ms: wanted, ..Failure::new("unavailable", "busy") })))
    });
    let pauses: Vec<Duration> = run.asked.windows(2).map(|two| two[1].0 - two[0].0).collect();
    let told = run.news.iter().filter_map(|news| match &news.change {
        StepChange::Retrying(pause, why) if why == "busy" => Some(*pause),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), pauses);
    assert!((ms(50)..=ms(150)).contains(&pauses[0]), "{pauses:?}");
    assert_eq!(pauses[1], ms(5000));
    assert!((ms(112)..=ms(338)).contains(&pauses[2]), "{pauses:?}");
}

#[test]
fn nothing_is_tried_again_that_cannot_help_or_would_come_too_late() {
    let plan = |timeout: u64| {
        let on_error = json!({"action": "retry", "retryCount": 5, "retryDelay": 1000});
        plan(json!([{"id": "a", "tool": "t.run", "timeout": timeout, "onError": on_error}]))
    };
    let stopped = Failure::new("cancelled", "told to stop");
    let run_one = run(&plan(60_000), json!({}), |_| Some((1, Comes::Fail(stopped.clone()))));
    assert_eq!(run_one.asked.len(), 1);
    let late = run(&plan(400), json!({}), |_| fails(1, "busy"));
    assert_eq!((late.asked.len(), late.took), (1, ms(1)), "no pause of a second is as short as 400 ms");
    assert_eq!(late.report().cause.as_ref().unwrap()["error"], "busy");
}

// Case 26 is `a_workflow_that_takes_too_long_ends` in `aborts`.
#[test]
fn a_steps_timeout_covers_its_retries_and_is_its_failure() {
    let on_error = |action: &str| json!({"action": action, "retryCount": 5, "retryDelay": 10});
    let of = |action: &str| {
        plan(json!([
            {"id": "a", "tool": "t.run", "timeout": 300, "onError": on_error(action), "defaultResults": {"d": 1}},
            {"id": "b", "tool": "t.run", "dependsOn": ["a"]},
        ]))
    };
    let slow = |asked: &Asked| match (asked.id.as_str(), asked.task.attempt) {
        ("a", 0) => fails(100, "busy"),
        ("a", _) => None,
        _ => ok(1, json!({})),
    };
    let ended = run(&of("retry"), json!({}), slow);
    assert_eq!(ended.took, ms(300));
    assert_eq!(ended.dropped.len(), 1);
    let report = ended.report();
    assert_eq!(
        (report.code.as_str(), report.message.as_str()),
        ("timed_out", "step a timed out after 300ms")
    );
    assert_eq!(report.cause.as_ref().unwrap()["code"], "timed_out");
    assert_eq!(report.not_run, ["b"]);
    let went_on =
        run(&of("continue"), json!({}), |asked| if asked.id == "a" { None } else { ok(1, json!({})) });
    assert_eq!((went_on.took, went_on.dropped.len()), (ms(301), 1));
}

#[test]
fn an_argument_that_names_the_action_is_no_parameter() {
    let plan = plan_with(
        json!([{"id": "a", "tool": "t.run", "arguments": {"action": "run", "n": 42, "flag": true, "list": [1]}}]),
        json!({}),
    );
    let run = run(&plan, json!({}), |_| ok(1, json!({})));
    assert_eq!(*run.params("a"), json!({"n": 42, "flag": true, "list": [1]}));
}

#[test]
fn only_listed_failures_are_retried_and_the_run_may_continue() {
    let plan = |then: &str| {
        let on_error = json!({"action": "retry", "retryCount": 2, "retryDelay": 1, "retryOn": ["unavailable"], "then": then});
        plan(json!([
            {"id": "a", "tool": "t.run", "onError": on_error, "defaultResults": {"x": 7}},
            {"id": "b", "tool": "t.run", "arguments": {"x": "{{.steps.a.output.x}}"}, "dependsOn": ["a"]}
        ]))
    };
    for (code, then, tries) in
        [("unavailable", "continue", 3), ("denied", "continue", 1), ("unavailable", "abort", 3)]
    {
        let plan = plan(then);
        let run = run(&plan, json!({}), |asked| match asked.id.as_str() {
            "a" => Some((1, Comes::Fail(Failure::new(code, "no")))),
            _ => ok(1, json!({"ok": true})),
        });
        assert_eq!(run.order().iter().filter(|id| **id == "a").count(), tries, "{code}");
        match then {
            "continue" => {
                assert_eq!((run.params("b"), run.result()), (&json!({"x": "7"}), &json!({"ok": true})))
            }
            _ => assert_eq!(run.report().not_run, ["b"]),
        }
    }
}
