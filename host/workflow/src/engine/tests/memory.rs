//! Memory limits of a run.

use std::{collections::VecDeque, time::Duration};

use loggia_facade::{Object, Reply};
use serde_json::json;

use super::{
    super::{RunEffect, RunEvent, RunOutcome, RunStart, step},
    plans::plan,
    simulator::{ok, run},
};

const MIB: usize = 1 << 20;

/// Driven by hand: the simulator would serialize the state at each event.
#[test]
fn replies_that_are_too_large_together_end_the_run() {
    let items = json!((0..20).collect::<Vec<_>>()).to_string();
    let each = json!({"id": "all", "type": "forEach", "collection": items, "step": {"tool": "t.run"}});
    let plan = plan(json!([each]));
    let begin =
        RunStart { id: "r".into(), start_time: String::new(), params: Object::new(), seed: 1, dry: None };
    let (mut state, effects) = super::super::begin(&plan, begin);
    let mut open: VecDeque<RunEffect> = effects.into();
    let mut replies = 0;
    let message = loop {
        match open.pop_front().expect("it ends") {
            RunEffect::Call { task, .. } => {
                replies += 1;
                let reply = Reply::data(json!({"text": "x".repeat(4 * MIB)}));
                open.extend(step(&plan, &mut state, Duration::ZERO, RunEvent::replied(task, reply)));
            }
            RunEffect::Done(outcome) => match *outcome {
                RunOutcome::Failed(report) => break report.message,
                RunOutcome::Completed(_) => panic!("it holds too much"),
            },
            _ => {}
        }
    };
    assert!(message.ends_with("the replies of this run exceed 64 MiB in total"), "{message}");
    assert!(replies < 20, "{replies}");
}

#[test]
fn a_result_has_four_mebibytes_at_most() {
    let large = |mebibytes: usize, output: serde_json::Value| {
        let steps = json!([{"id": "a", "tool": "t.run"}]);
        let plan =
            if output.is_null() { plan(steps) } else { plan(json!({"steps": steps, "output": output})) };
        let run = run(&plan, json!({}), |_| ok(1, json!({"text": "x".repeat(mebibytes * MIB)})));
        match run.outcome {
            RunOutcome::Completed(_) => String::new(),
            RunOutcome::Failed(report) => report.message,
        }
    };
    let twice = |template: &str| {
        let part = json!({"type": "string", "description": "d", "value": template});
        json!({"properties": {"one": part, "two": part}})
    };
    assert_eq!(large(3, json!(null)), "");
    assert_eq!(large(5, json!(null)), "the result is larger than 4 MiB");
    assert_eq!(large(1, twice("{{.steps.a.output.text}}")), "");
    assert_eq!(
        large(3, twice("{{.steps.a.output.text}}")),
        "output construction failed: failed to construct output property \"two\": the result is larger than 4 MiB"
    );
}

#[test]
fn arguments_are_bounded_before_they_are_made() {
    let arguments = json!({"list": ["{{.params.text}}", "{{.params.text}}", "{{.params.text}}"]});
    let plan = plan(json!([{"id": "a", "tool": "t.run", "arguments": arguments}]));
    let called = |text: String| run(&plan, json!({"text": text}), |_| ok(1, json!({})));
    assert_eq!(called("x".repeat(MIB)).asked.len(), 1);
    let run = called("x".repeat(MIB + MIB / 2));
    let said = "failed to expand value for key \"list\": the arguments are larger than 4 MiB";
    assert!(run.report().message.ends_with(said), "{}", run.report().message);
}
