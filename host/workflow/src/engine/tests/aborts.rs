//! Runs that end early, and their reports.

use std::time::Duration;

use serde_json::json;

use super::{
    super::{RunEvent, RunStart, RunState, TaskId, begin, step},
    plans::{object, plan},
    simulator::{Comes, fails, ok, run},
};

#[test]
fn a_failure_ends_the_run_at_once_with_a_report() {
    let plan = plan(json!([
        {"id": "read", "tool": "t.read"},
        {"id": "poll", "tool": "t.poll", "onError": {"action": "continue"}},
        {"id": "slow", "tool": "t.slow"},
        {"id": "write", "tool": "t.write", "arguments": {"text": "hello"}, "dependsOn": ["read", "poll"]},
        {"id": "after", "tool": "t.after", "dependsOn": ["write"]},
    ]));
    let run = run(&plan, json!({}), |asked| match asked.id.as_str() {
        "write" => fails(10, "the disk is full"),
        "poll" => fails(10, "no answer"),
        "slow" => None,
        _ => ok(10, json!({})),
    });
    assert_eq!(run.took, Duration::from_millis(20));
    assert_eq!(run.dropped, [TaskId::first(2, None)]);
    insta::assert_snapshot!(serde_json::to_string_pretty(run.report()).unwrap(), @r#"
    {
      "code": "step_failed",
      "message": "tool call failed: tool t.write in step write: the disk is full",
      "workflow": "flow",
      "step": "write",
      "cause": {
        "code": "unavailable",
        "error": "the disk is full"
      },
      "inputs": {
        "text": "hello"
      },
      "completed": [
        "read"
      ],
      "failed": [
        "poll",
        "write"
      ],
      "skipped": [],
      "stopped": [
        "slow"
      ],
      "not_run": [
        "after"
      ],
      "hint": "Fix the cause of the step's failure, then call the workflow again. The effects of `read` remain; a new run repeats them. The effects of `slow` are unknown; check before calling again."
    }
    "#);
}

#[test]
fn read_only_steps_have_no_lasting_effects() {
    let plan = plan(json!([
        {"id": "find", "tool": "t.look"},
        {"id": "write", "tool": "t.write", "dependsOn": ["find"]},
    ]));
    let run = run(&plan, json!({}), |asked| match asked.id.as_str() {
        "write" => fails(10, "the disk is full"),
        _ => ok(10, json!({})),
    });
    let report = run.report();
    assert_eq!((&report.completed, &report.failed), (&vec!["find".to_owned()], &vec!["write".to_owned()]));
    assert_eq!(report.hint, "Fix the cause of the step's failure, then call the workflow again.");
}

// Case 26.
#[test]
fn a_workflow_that_takes_too_long_ends() {
    let plan = plan(json!({"timeout": 30, "steps": [
        {"id": "a", "tool": "t.run", "onError": {"action": "continue"}}, {"id": "b", "tool": "t.run", "dependsOn": ["a"]}]}));
    let run = run(&plan, json!({}), |_| ok(100, json!({})));
    assert_eq!(run.took, Duration::from_millis(30));
    insta::assert_snapshot!(serde_json::to_string_pretty(run.report()).unwrap(), @r#"
    {
      "code": "timed_out",
      "message": "workflow timed out after 30ms",
      "workflow": "flow",
      "step": null,
      "cause": null,
      "inputs": null,
      "completed": [],
      "failed": [],
      "skipped": [],
      "stopped": [
        "a"
      ],
      "not_run": [
        "b"
      ],
      "hint": "Call the workflow again, or give it a longer `timeout`. The effects of `a` are unknown; check before calling again."
    }
    "#);
}

#[test]
fn cancellation_ends_the_run_at_once() {
    let plan = plan(json!([{"id": "a", "tool": "t.run"}, {"id": "b", "tool": "t.run"}]));
    let run =
        run(
            &plan,
            json!({}),
            |asked| if asked.id == "b" { Some((7, Comes::Cancel)) } else { ok(100, json!({})) },
        );
    assert_eq!((run.took, run.dropped.len()), (Duration::from_millis(7), 2));
    let report = run.report();
    assert_eq!((report.code.as_str(), report.message.as_str()), ("cancelled", "the workflow was cancelled"));
    assert_eq!(report.stopped, ["a", "b"]);
}

// Case 19.
#[test]
fn secrets_are_in_no_error() {
    let parameters =
        json!({"type": "object", "properties": {"password": {"type": "string", "writeOnly": true}}});
    let plan = plan(json!({"parameters": parameters, "steps": [
        {"id": "a", "tool": "t.run", "arguments": {"login": "hunter2", "other": "x"}}]}));
    let run = run(&plan, json!({"password": "hunter2"}), |_| fails(1, "hunter2 is wrong"));
    let shown = format!("{:?} {:?}", run.report(), run.news);
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("(redacted) is wrong"), "{shown}");
}

#[test]
fn events_of_inactive_tasks_are_ignored() {
    let plan = plan(json!([{"id": "a", "tool": "t.run"}, {"id": "b", "tool": "t.run", "dependsOn": ["a"]}]));
    let start =
        RunStart { id: "r".into(), start_time: String::new(), params: object(json!({})), seed: 0, dry: None };
    let (mut state, _) = begin(&plan, start);
    let reply = || loggia_facade::Reply::data(json!({"x": 1}));
    let failure = || loggia_facade::Failure::new("internal", "x");
    let task = |step, item, attempt| TaskId::first(step, item).with_attempt(attempt);
    let before = serde_json::to_value(&state).unwrap();
    for other in [
        task(1, None, 0),
        task(0, None, 1),
        task(0, Some(0), 0),
        task(9, None, 0),
        task(usize::MAX, Some(usize::MAX), u32::MAX),
    ] {
        for event in [
            RunEvent::replied(other, reply()),
            RunEvent::Failed(other, failure()),
            RunEvent::Answered(other, loggia_facade::Answer::Declined),
        ] {
            assert_eq!(step(&plan, &mut state, Duration::ZERO, event), []);
        }
    }
    let answer = RunEvent::Answered(task(0, None, 0), loggia_facade::Answer::Declined);
    assert_eq!(step(&plan, &mut state, Duration::ZERO, answer), [], "a call is not answered");
    assert_eq!(serde_json::to_value(&state).unwrap(), before);
    assert!(
        !step(&plan, &mut state, Duration::ZERO, RunEvent::replied(task(0, None, 0), reply())).is_empty()
    );
    assert_eq!(
        step(&plan, &mut state, Duration::ZERO, RunEvent::replied(task(0, None, 0), reply())),
        [],
        "twice"
    );
}

#[test]
fn a_run_of_another_definition_ends() {
    let short = plan(json!([{"id": "a", "tool": "t.run"}]));
    let long = plan(json!([{"id": "a", "tool": "t.run"}, {"id": "b", "tool": "t.run"}]));
    let start =
        RunStart { id: "r".into(), start_time: String::new(), params: object(json!({})), seed: 0, dry: None };
    let (state, _) = begin(&short, start);
    let mut state: RunState = serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap();
    let effects = step(&long, &mut state, Duration::ZERO, RunEvent::Due);
    assert!(format!("{effects:?}").contains("has changed since"), "{effects:?}");
    assert_eq!(step(&long, &mut state, Duration::ZERO, RunEvent::Due), []);
}
