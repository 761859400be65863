//! Sagas: runs that undo what they have done.

use std::time::Duration;

use loggia_facade::{Answer, Failure};
use serde_json::{Value, json};

use super::{
    super::{RunEffect, RunEvent, RunPlan, RunReport, RunStart, StepChange, TaskId, UndoReport, begin, step},
    plans::{object, plan},
    simulator::{Asked, Comes, Run, Told, fails, ok, run, says},
};

/// Builds a step that is undone by `t.undo` with its own result.
fn undoable(id: &str, after: &[&str]) -> Value {
    json!({"id": id, "tool": "t.do", "dependsOn": after,
        "compensate": {"tool": "t.undo", "arguments": {"id": format!("{{{{.steps.{id}.output.id}}}}")}}})
}

fn saga(steps: Value) -> RunPlan {
    plan(json!({"saga": 60_000, "steps": steps}))
}

fn undo(run: &Run) -> &UndoReport {
    run.report().undo.as_ref().unwrap()
}

/// Calls as `step` or `step#item`, compensations with a minus.
fn calls(run: &Run) -> Vec<String> {
    let name = |asked: &Asked| {
        let item = asked.task.item.map(|item| format!("#{item}")).unwrap_or_default();
        format!("{}{}{item}", if asked.task.undoes { "-" } else { "" }, asked.id)
    };
    run.asked.iter().map(|(_, asked)| name(asked)).collect()
}

/// Answers with an id that names the call.
fn done(asked: &Asked) -> Told {
    ok(10, json!({"id": format!("{}-1", asked.id)}))
}

#[test]
fn a_failed_saga_undoes_its_steps_in_reverse() {
    let plan = saga(json!([
        {"id": "look", "tool": "t.look"},
        undoable("stock", &["look"]),
        undoable("seat", &["stock"]),
        {"id": "pay", "tool": "t.pay", "irreversible": true, "dependsOn": ["seat"]},
        {"id": "tell", "tool": "t.look", "dependsOn": ["pay"]},
    ]));
    let run =
        run(&plan, json!({}), |asked| if asked.id == "pay" { fails(5, "no money") } else { done(asked) });
    assert_eq!(calls(&run), ["look", "stock", "seat", "pay", "-seat", "-stock"]);
    assert_eq!(run.asked[4].1.params, json!({"id": "seat-1"}));
    assert_eq!(run.asked[4].1.idempotency_key, "run-1/seat/undo");
    insta::assert_snapshot!(serde_json::to_string_pretty(run.report()).unwrap(), @r#"
    {
      "code": "step_failed",
      "message": "tool call failed: tool t.pay in step pay: no money",
      "workflow": "flow",
      "step": "pay",
      "cause": {
        "code": "unavailable",
        "error": "no money"
      },
      "inputs": {},
      "completed": [
        "look",
        "stock",
        "seat"
      ],
      "failed": [
        "pay"
      ],
      "skipped": [],
      "stopped": [],
      "not_run": [
        "tell"
      ],
      "undone": true,
      "compensated": [
        "seat",
        "stock"
      ],
      "compensation_failed": [],
      "not_reversible": [],
      "remaining": [],
      "unknown": [],
      "hint": "Fix the cause of the step's failure, then call the workflow again. All that was changed was undone."
    }
    "#);
    let undoing: Vec<&StepChange> = run.news.iter().rev().take(4).map(|news| &news.change).collect();
    assert_eq!(
        undoing,
        [&StepChange::Undone, &StepChange::Undoing, &StepChange::Undone, &StepChange::Undoing]
    );
}

#[test]
fn a_completed_saga_undoes_nothing() {
    let plan = saga(json!([undoable("stock", &[]), undoable("seat", &["stock"])]));
    let run = run(&plan, json!({}), done);
    assert_eq!(calls(&run), ["stock", "seat"]);
    assert_eq!(run.result(), &json!({"id": "seat-1"}));
}

#[test]
fn calls_under_way_are_waited_for_and_undone() {
    let plan = saga(json!([undoable("slow", &[]), undoable("quick", &[]),
        {"id": "read", "tool": "t.look"}, {"id": "bad", "tool": "t.look"}]));
    let run = run(&plan, json!({}), |asked| match (asked.id.as_str(), asked.task.undoes) {
        ("slow", false) => ok(500, json!({"id": "slow-1"})),
        ("read", _) => None,
        ("bad", _) => fails(20, "no"),
        _ => done(asked),
    });
    assert_eq!(
        calls(&run),
        ["slow", "quick", "read", "bad", "-slow", "-quick"],
        "by the order of completion"
    );
    assert_eq!(run.dropped, [TaskId::first(2, None)], "what only reads is dropped");
    assert_eq!(run.took, Duration::from_millis(520));
    assert!(undo(&run).undone, "{:?}", run.report());
    assert_eq!(run.report().stopped, ["read"]);
}

#[test]
fn nothing_starts_once_a_saga_has_stopped() {
    let plan = saga(json!([undoable("a", &[]), {"id": "bad", "tool": "t.look"}, undoable("b", &["a"])]));
    let run = run(&plan, json!({}), |asked| match asked.id.as_str() {
        "bad" => fails(1, "no"),
        _ => done(asked),
    });
    assert_eq!(calls(&run), ["a", "bad", "-a"]);
    assert_eq!(run.report().not_run, ["b"]);
}

#[test]
fn every_way_to_stop_undoes() {
    let question = json!({"id": "sure", "type": "elicitation", "dependsOn": ["a"]});
    let slow = json!({"id": "slow", "tool": "t.look", "dependsOn": ["a"]});
    for (last, answer, code) in [
        (&question, says(5, Answer::Declined), "cancelled"),
        (&slow, Some((5, Comes::Cancel)), "cancelled"),
        (&slow, None, "timed_out"),
    ] {
        let plan = plan(json!({"saga": 60_000, "timeout": 100, "steps": [undoable("a", &[]), last]}));
        let run = run(&plan, json!({}), |asked| if asked.id == "a" { done(asked) } else { answer.clone() });
        assert_eq!((calls(&run).last().unwrap().as_str(), run.report().code.as_str()), ("-a", code));
        assert!(undo(&run).undone);
    }
}

#[test]
fn items_are_undone_one_by_one_with_what_they_returned() {
    let plan = saga(
        json!([{"id": "each", "type": "forEach", "collection": "[\"x\", \"y\", \"z\", \"w\"]", "maxParallel": 2,
        "step": {"tool": "t.do", "compensate": {"tool": "t.undo",
            "arguments": {"was": "{{.forEach.item}}", "at": "{{.forEach.index}}", "id": "{{.forEach.output.id}}"}}}}]),
    );
    let run = run(&plan, json!({}), |asked| match (asked.task.item, asked.task.undoes) {
        (Some(2), false) => fails(10, "no"),
        (Some(1), false) => ok(15, json!({"id": "y1"})),
        (Some(3), false) => ok(200, json!({"id": "w1"})),
        _ => ok(10, json!({"id": "x1"})),
    });
    assert_eq!(calls(&run), ["each#0", "each#1", "each#2", "each#3", "-each#3", "-each#1", "-each#0"]);
    assert_eq!(
        run.asked[4].1.params,
        json!({"was": "w", "at": "3", "id": "w1"}),
        "it ended after the failure"
    );
    assert_eq!(undo(&run).compensated, ["each#3", "each#1", "each#0"]);
    assert_eq!(run.report().failed, ["each"]);
}

#[test]
fn compensations_are_retried_and_those_that_fail_are_named() {
    let retry = json!({"action": "retry", "retryCount": 2, "retryDelay": 100});
    let step = |id: &str, after: &[&str]| {
        let mut step = undoable(id, after);
        step["compensate"]["onError"] = retry.clone();
        step
    };
    let plan =
        saga(json!([step("a", &[]), step("b", &["a"]), {"id": "bad", "tool": "t.look", "dependsOn": ["b"]}]));
    let mut left = 1;
    let run = run(&plan, json!({}), |asked| match (asked.id.as_str(), asked.task.undoes) {
        ("bad", _) => fails(1, "no"),
        ("b", true) => fails(1, "the shop is closed"),
        ("a", true) if left > 0 => {
            left -= 1;
            fails(1, "busy")
        }
        _ => done(asked),
    });
    assert_eq!(calls(&run), ["a", "b", "bad", "-b", "-b", "-b", "-a", "-a"]);
    let report = undo(&run);
    assert_eq!((&*report.compensated, report.undone), (&["a".to_owned()][..], false));
    let failed = &report.compensation_failed[0];
    assert_eq!((&*failed.step, &*failed.code, &*failed.error), ("b", "unavailable", "the shop is closed"));
    assert!(run.report().hint.contains("Undoing `b` failed"), "{}", run.report().hint);
}

#[test]
fn the_time_for_compensations_is_limited() {
    let plan =
        plan(json!({"saga": 300, "steps": [undoable("a", &[]), undoable("b", &["a"]), undoable("c", &["b"]),
        {"id": "bad", "tool": "t.look", "dependsOn": ["c"]}]}));
    let run = run(&plan, json!({}), |asked| match (asked.id.as_str(), asked.task.undoes) {
        ("bad", _) => fails(1, "no"),
        ("b", true) => None,
        _ => done(asked),
    });
    assert_eq!(calls(&run), ["a", "b", "c", "bad", "-c", "-b"]);
    assert_eq!(run.took, Duration::from_millis(331));
    let report = undo(&run);
    let failed: Vec<(&str, &str)> =
        report.compensation_failed.iter().map(|failed| (&*failed.step, &*failed.error)).collect();
    assert_eq!(
        failed,
        [
            ("b", "no answer within the time for compensations"),
            ("a", "it was not undone: the time for compensations, 300ms, is over")
        ]
    );
}

#[test]
fn nothing_is_undone_after_an_irreversible_step() {
    let pay = json!({"id": "pay", "tool": "t.pay", "irreversible": true, "timeout": 50, "dependsOn": ["a"]});
    let steps = json!([undoable("a", &[]), pay, {"id": "bad", "tool": "t.look", "dependsOn": ["pay"]}]);
    let told = |paid: Told| {
        run(&saga(steps.clone()), json!({}), move |asked| match asked.id.as_str() {
            "bad" => fails(1, "no"),
            "pay" => paid.clone(),
            _ => done(asked),
        })
    };
    let paid = told(ok(1, json!({})));
    assert_eq!(calls(&paid), ["a", "pay", "bad"]);
    let report = undo(&paid);
    assert_eq!(
        (&*report.not_reversible, &*report.remaining),
        (&["pay".to_owned()][..], &["a".to_owned()][..])
    );
    assert!(paid.report().hint.contains("`pay` cannot be undone, so all effects remain"));
    let unknown = told(None);
    assert_eq!(calls(&unknown), ["a", "pay"], "it may have been made");
    let report = undo(&unknown);
    assert_eq!((&*report.unknown, &*report.remaining), (&["pay".to_owned()][..], &["a".to_owned()][..]));
    assert_eq!(calls(&told(fails(1, "no money"))), ["a", "pay", "-a"], "it was not made");
}

#[test]
fn calls_that_may_have_taken_effect_are_named() {
    for (failure, unknown) in [
        (Failure::new("timed_out", "x"), true),
        (Failure::new("internal", "it trapped"), true),
        (Failure::new("step_failed", "a workflow failed"), true),
        (Failure { details: Some(json!({"undone": true})), ..Failure::new("step_failed", "x") }, false),
        (Failure::new("conflict", "x"), false),
    ] {
        let plan = saga(json!([undoable("a", &[])]));
        let run = run(&plan, json!({}), |_| Some((1, Comes::Fail(failure.clone()))));
        assert_eq!((undo(&run).unknown.is_empty(), undo(&run).undone), (!unknown, !unknown), "{failure:?}");
    }
}

#[test]
fn a_compensation_that_cannot_be_prepared_ends_the_run_at_once() {
    let mut broken = undoable("b", &["a"]);
    broken["compensate"]["arguments"] = json!({"id": "{{.steps.b.output.name.first}}"});
    let plan = plan(
        json!({"saga": 60_000, "strict": true, "steps": [undoable("a", &[]), broken, undoable("c", &["b"])]}),
    );
    let run = run(&plan, json!({}), done);
    assert_eq!(calls(&run), ["a", "b", "-a"]);
    assert!(
        run.report().message.contains("the compensation of step b cannot be prepared"),
        "{:?}",
        run.report()
    );
    assert_eq!(undo(&run).compensation_failed[0].step, "b");
}

/// Lets an ended run go on by an operator's request, answering everything at once. Returns its calls, and its report.
fn retry(
    plan: &RunPlan,
    ended: &Run,
    answer: impl Fn(&str, bool) -> bool,
) -> (Vec<String>, Option<RunReport>) {
    let mut state = ended.state.clone();
    let (mut now, mut made) = (ended.took, Vec::new());
    let mut events = vec![RunEvent::Retried(None)];
    while let Some(event) = events.pop() {
        now += Duration::from_millis(1);
        for effect in step(plan, &mut state, now, event) {
            match effect {
                RunEffect::Call { task, idempotency_key, .. } => {
                    let id = plan.workflow.steps[task.step].id.as_str();
                    made.push(idempotency_key);
                    events.push(match answer(id, task.undoes) {
                        true => RunEvent::replied(task, loggia_facade::Reply::data(json!({"id": "x"}))),
                        false => RunEvent::Failed(task, Failure::new("unavailable", "no")),
                    });
                }
                RunEffect::Done(outcome) => match *outcome {
                    super::super::RunOutcome::Failed(report) => return (made, Some(*report)),
                    super::super::RunOutcome::Completed(_) => return (made, None),
                },
                _ => {}
            }
        }
    }
    panic!("it does not end")
}

#[test]
fn a_retry_undoes_what_could_not_be_undone() {
    let plan = saga(
        json!([undoable("a", &[]), undoable("b", &["a"]), {"id": "bad", "tool": "t.look", "dependsOn": ["b"]}]),
    );
    let ended = run(&plan, json!({}), |asked| match (asked.id.as_str(), asked.task.undoes) {
        ("bad", _) | ("b", true) => fails(1, "no"),
        _ => done(asked),
    });
    let (made, report) = retry(&plan, &ended, |_, _| true);
    assert_eq!(made, ["run-1/b/undo"]);
    assert!(report.unwrap().undo.unwrap().undone);
}

#[test]
fn a_retry_of_an_undone_run_makes_its_calls_with_new_keys() {
    let plan = saga(json!([{"id": "look", "tool": "t.look"}, undoable("a", &["look"]),
        {"id": "bad", "tool": "t.look", "dependsOn": ["a"]}]));
    let ended = run(&plan, json!({}), |asked| if asked.id == "bad" { fails(1, "no") } else { done(asked) });
    let (made, report) = retry(&plan, &ended, |_, _| true);
    assert_eq!((made, report), (vec!["run-1~1/a".to_owned(), "run-1~1/bad".to_owned()], None));
    let (made, report) = retry(&plan, &ended, |id, _| id != "bad");
    assert_eq!(made, ["run-1~1/a", "run-1~1/bad", "run-1~1/a/undo"]);
    assert!(report.unwrap().undo.unwrap().undone);
}

#[test]
fn cancellation_does_not_stop_the_undoing() {
    let plan = saga(json!([undoable("a", &[])]));
    let start =
        RunStart { id: "r".into(), start_time: String::new(), params: object(json!({})), seed: 0, dry: None };
    let (mut state, _) = begin(&plan, start);
    let now = Duration::ZERO;
    let effects = step(&plan, &mut state, now, RunEvent::Cancelled);
    assert_eq!(effects, [RunEffect::Cancel(TaskId::first(0, None))]);
    assert_eq!(state.undo_time(&plan), Some(Duration::from_secs(300 + 60)));
    let reply = RunEvent::replied(TaskId::first(0, None), loggia_facade::Reply::data(json!({"id": "x"})));
    assert!(matches!(&step(&plan, &mut state, now, reply)[..], [.., RunEffect::Call { .. }]));
    assert_eq!(step(&plan, &mut state, now, RunEvent::Cancelled), []);
    assert_eq!(step(&plan, &mut state, now, RunEvent::Due), []);
    let task = TaskId { undoes: true, ..TaskId::first(0, None) };
    let end = step(&plan, &mut state, now, RunEvent::Interrupted(task));
    assert!(format!("{end:?}").contains("unknown whether it took effect"), "{end:?}");
}

#[test]
fn stated_keys_are_used_and_belong_to_one_call() {
    let plan = saga(json!([
        {"id": "a", "tool": "t.do", "idempotencyKey": "order-{{.params.n}}", "compensate": {"tool": "t.undo"}},
        {"id": "b", "tool": "t.do", "idempotencyKey": "order-7", "dependsOn": ["a"], "compensate": {"tool": "t.undo"}}]));
    let run = run(&plan, json!({"n": 7}), done);
    let keys: Vec<&str> = run.asked.iter().map(|(_, asked)| asked.idempotency_key.as_str()).collect();
    assert_eq!(keys, ["order-7", "order-7/undo"]);
    assert!(run.report().message.contains("the idempotencyKey of step b is that of a"), "{:?}", run.report());
}
