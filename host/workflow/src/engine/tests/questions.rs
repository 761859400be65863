//! Questions to a person.

use std::time::Duration;

use loggia_facade::{Answer, Failure};
use serde_json::{Value, json};

use super::{
    super::{RunOutcome, StepChange},
    plans::plan,
    simulator::{Asked, Comes, Run, Told, ok, run, says},
};

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Plan that reads, asks, and writes the answer.
fn asking(more: Value) -> super::super::RunPlan {
    let mut ask = json!({"id": "confirm", "type": "elicitation", "message": "Deploy {{.params.pr}}?", "dependsOn": ["read"], "timeout": 1000});
    more.as_object().unwrap().iter().for_each(|(name, value)| ask[name] = value.clone());
    plan(json!([
        {"id": "read", "tool": "t.read"},
        ask,
        {"id": "write", "tool": "t.write", "dependsOn": ["confirm"], "defaultResults": {"written": false}, "arguments": {
            "code": "{{.steps.confirm.output.action}} {{.steps.confirm.output.content.environment}}",
            "documented": "{{.steps.confirm.action}} {{.steps.confirm.content.environment}}"}},
    ]))
}

fn answering(answer: Option<Answer>) -> impl FnMut(&Asked) -> Told {
    move |asked| match (&answer, asked.id.as_str()) {
        (Some(answer), "confirm") => says(5, answer.clone()),
        (None, "confirm") => None,
        (_, id) => ok(5, json!({"id": id})),
    }
}

fn ask(more: Value, answer: Option<Answer>) -> Run {
    run(&asking(more), json!({"pr": 7}), answering(answer))
}

// Case 34, and row 1 of the differences between ToolHive's documentation and code: both forms work.
#[test]
fn an_answer_is_where_the_documentation_says_and_where_the_code_has_it() {
    let run = ask(json!({}), Some(Answer::Accepted(json!({"environment": "production"}))));
    assert_eq!(*run.params("confirm"), json!("Deploy 7?"));
    let said = "accept production";
    assert_eq!(*run.params("write"), json!({"code": said, "documented": said}));
    assert!(run.news.iter().any(|news| news.change == StepChange::Asking));
}

// The seed's approval.
#[test]
fn an_approval_selects_the_steps() {
    for (approved, called) in [(true, true), (false, false)] {
        let plan = plan(json!([
            {"id": "approval", "type": "elicitation", "message": "Deploy?"},
            {"id": "deploy", "tool": "t.run", "condition": "{{.steps.approval.content.approved}}", "dependsOn": ["approval"]},
            {"id": "code", "tool": "t.run", "condition": "{{.steps.approval.output.content.approved}}", "dependsOn": ["approval"]},
        ]));
        let run = run(&plan, json!({}), |asked| match asked.id.as_str() {
            "approval" => says(1, Answer::Accepted(json!({"approved": approved}))),
            _ => ok(1, json!({})),
        });
        for id in ["deploy", "code"] {
            assert_eq!(run.order().contains(&id), called, "{id}");
        }
    }
}

// Case 35.
#[test]
fn a_refusal_follows_the_definition() {
    let (no, closed) = (Some(Answer::Declined), Some(Answer::Cancelled));
    for (more, answer, code, message) in [
        (json!({}), no.clone(), "cancelled", "elicitation request was declined by user: step confirm"),
        (
            json!({"onDecline": "abort"}),
            no.clone(),
            "cancelled",
            "elicitation request was declined by user: step confirm",
        ),
        (
            json!({"onDecline": "continue"}),
            closed.clone(),
            "cancelled",
            "elicitation request was cancelled by user: step confirm",
        ),
        (json!({"onDecline": "continue"}), None, "timed_out", "elicitation request timed out: step confirm"),
        (
            json!({"onError": {"action": "retry", "retryCount": 3}}),
            no.clone(),
            "cancelled",
            "elicitation request was declined by user: step confirm",
        ),
    ] {
        let run = ask(more, answer);
        let report = run.report();
        assert_eq!((report.code.as_str(), report.message.as_str()), (code, message));
        assert_eq!(
            (&report.completed[..], &report.not_run[..]),
            (&["read".to_owned()][..], &["write".to_owned()][..])
        );
    }
    for (more, answer, action) in [
        (json!({"onDecline": "continue"}), no.clone(), "decline"),
        (json!({"onCancel": "continue"}), closed.clone(), "cancel"),
        (json!({"onCancel": "continue"}), None, "timeout"),
    ] {
        let run = ask(more, answer);
        let said = format!("{action} <no value>");
        assert_eq!(*run.params("write"), json!({"code": said, "documented": said}));
    }
    // A continued failure has no output, but the person's action is known.
    for (answer, action) in [(no, "decline"), (closed, "cancel"), (None, "timeout")] {
        let run = ask(json!({"onError": {"action": "continue"}}), answer);
        let said = json!({"code": "<no value> <no value>", "documented": format!("{action} <no value>")});
        assert_eq!(*run.params("write"), said);
        assert_eq!(*run.result(), json!({"id": "write"}));
    }
}

// Row 2: ToolHive documents that the rest is skipped, but runs it. Here it is skipped.
#[test]
fn skipping_the_rest_completes_the_run() {
    let plan = plan(json!([
        {"id": "slow", "tool": "t.run"},
        {"id": "confirm", "type": "elicitation", "message": "Go on?", "onCancel": "skip_remaining"},
        {"id": "write", "tool": "t.run", "dependsOn": ["confirm"], "defaultResults": {"written": false}},
        {"id": "more", "tool": "t.run", "dependsOn": ["slow"]},
    ]));
    let run = run(&plan, json!({}), |asked| match asked.id.as_str() {
        "confirm" => says(5, Answer::Cancelled),
        _ => ok(50, json!({})),
    });
    assert_eq!((run.order(), run.took), (vec!["slow", "confirm"], ms(50)));
    assert_eq!(*run.ended(&plan, "more"), StepChange::Skipped);
    assert_eq!(*run.result(), json!({"action": "cancel", "skipped": true}), "the last that completed");
}

#[test]
fn several_questions_are_open_at_once_and_the_workflows_clock_stands_still() {
    let steps = json!({"timeout": 100, "steps": [
        {"id": "a", "type": "elicitation", "message": "A?", "timeout": 60_000},
        {"id": "b", "type": "elicitation", "message": "B?", "timeout": 60_000},
        {"id": "c", "tool": "t.run", "dependsOn": ["a", "b"]},
    ]});
    let with = |c: u64| {
        run(&plan(steps.clone()), json!({}), |asked| match asked.id.as_str() {
            "a" => says(5000, Answer::Accepted(json!({}))),
            "b" => says(9000, Answer::Accepted(json!({}))),
            _ => ok(c, json!({})),
        })
    };
    let run = with(99);
    assert_eq!((run.most, run.took), (2, ms(9099)));
    assert!(matches!(run.outcome, RunOutcome::Completed(_)));
    let late = with(150);
    assert_eq!((late.report().code.as_str(), late.took), ("timed_out", ms(9100)));
}

/// The client may have closed the question first.
#[test]
fn a_question_closed_without_an_answer_is_a_timeout() {
    let closed = |asked: &Asked| match asked.id.as_str() {
        "confirm" => Some((1, Comes::Fail(Failure::new("timed_out", "nobody answered")))),
        _ => ok(1, json!({})),
    };
    let aborted = run(&asking(json!({})), json!({"pr": 1}), closed);
    let report = aborted.report();
    let told = (report.code.as_str(), report.message.as_str());
    assert_eq!(told, ("timed_out", "elicitation request timed out: step confirm"));
    let continues = asking(json!({"onCancel": "continue"}));
    assert!(matches!(run(&continues, json!({"pr": 1}), closed).outcome, RunOutcome::Completed(_)));
}

#[test]
fn a_question_that_cannot_be_put_fails_its_step() {
    let failure = Failure::new("unavailable", "the client cannot ask").hint("Use another client.");
    let asked = |asked: &Asked| match asked.id.as_str() {
        "confirm" => Some((1, Comes::Fail(failure.clone()))),
        _ => ok(1, json!({})),
    };
    let run = run(&asking(json!({})), json!({"pr": 1}), asked);
    let report = run.report();
    assert_eq!(report.message, "elicitation handler not configured for step confirm: the client cannot ask");
    assert!(report.hint.starts_with("Use another client."), "{}", report.hint);
    assert_eq!(run.dropped, []);
}

/// The session has its own clock, and either may fire first.
#[test]
fn a_timeout_of_the_session_counts_as_ours() {
    let late = || Some((1000, Comes::Fail(Failure::new("timed_out", "nobody answered the question"))));
    let told = |asked: &Asked| if asked.id == "confirm" { late() } else { ok(5, json!({})) };
    let goes_on = run(&asking(json!({"onCancel": "continue"})), json!({"pr": 7}), told);
    assert_eq!(goes_on.params("write")["code"], "timeout <no value>");
    let ends = run(&asking(json!({})), json!({"pr": 7}), told);
    assert_eq!(ends.report().message, "elicitation request timed out: step confirm");
    assert_eq!(ends.report().code, "timed_out");
}

#[test]
fn an_answer_that_cannot_be_taken_is_no_missing_handler() {
    let failure = Failure::new("invalid_params", "the answer does not fit the question");
    let run = run(&asking(json!({})), json!({"pr": 7}), |asked| match asked.id.as_str() {
        "confirm" => Some((1, Comes::Fail(failure.clone()))),
        _ => ok(5, json!({})),
    });
    let message = "elicitation request failed: step confirm: the answer does not fit the question";
    assert_eq!(run.report().message, message);
}

#[test]
fn a_refusal_is_not_reported_as_a_missing_capability() {
    let check = |answer: Option<(u64, Comes)>, message: &str, hint: &str| {
        let run = run(&asking(json!({})), json!({"pr": 1}), |asked| match asked.id.as_str() {
            "confirm" => answer.clone(),
            _ => ok(1, json!({})),
        });
        let report = run.report();
        assert_eq!(report.message, message);
        assert!(report.hint.starts_with(hint), "{}", report.hint);
    };
    // A hint is a full sentence even if another follows.
    let misfit = Failure::new("invalid_params", "the answer does not fit").hint("ask again");
    let said = "elicitation request failed: step confirm: the answer does not fit";
    check(Some((1, Comes::Fail(misfit))), said, "ask again.");
    let no = "The person declined; call again only if they ask for it.";
    check(says(1, Answer::Declined), "elicitation request was declined by user: step confirm", no);
    check(says(1, Answer::Cancelled), "elicitation request was cancelled by user: step confirm", no);
}

#[test]
fn an_answer_that_its_schema_marks_as_secret_is_in_no_report() {
    let mut plan = plan(json!([
        {"id": "login", "type": "elicitation", "message": "Your code?"},
        {"id": "use", "tool": "t.run", "dependsOn": ["login"], "arguments": {"code": "{{.steps.login.content.code}}"}},
    ]));
    let super::super::RunPlan { workflow, .. } = &mut plan;
    if let crate::definition::StepKind::Ask(ask) = &mut std::sync::Arc::make_mut(workflow).steps[0].kind {
        ask.schema = super::plans::object(
            json!({"type": "object", "properties": {"code": {"type": "string", "format": "password"}}}),
        );
    }
    let run = run(&plan, json!({}), |asked| match asked.id.as_str() {
        "login" => says(1, Answer::Accepted(json!({"code": "834-112"}))),
        _ => super::simulator::fails(1, "834-112 has expired"),
    });
    assert_eq!(run.params("use")["code"], "834-112");
    assert!(!format!("{:?} {:?}", run.outcome, run.news).contains("834-112"));
}
