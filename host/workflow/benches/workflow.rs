//! Cost of the engine per step (at most 50 µs), and of parsing a file of a hundred steps (at most 20 ms).
//!
//! `cargo bench -p loggia-workflow --bench workflow`
//!
//! A run has a hundred steps: its time in ms times ten is µs per step.

use std::{fmt::Write as _, hint::black_box, sync::Arc, time::Duration};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use loggia_facade::{Object, Reply};
use loggia_workflow::{
    definition,
    engine::{RunEffect, RunEvent, RunOutcome, RunPlan, RunStart, RunState, StepTarget, begin, step},
};
use serde_json::{Value, json};

const STEPS: usize = 100;

/// Text of a hundred steps with one templated argument each: a chain, or all after the first.
fn file(chain: bool) -> String {
    let mut out = String::from(
        "name: long\ndescription: Many steps.\nparameters:\n  type: object\n  properties:\n    id: {type: integer}\nsteps:\n",
    );
    for number in 0..STEPS {
        let before = if chain { number.saturating_sub(1) } else { 0 };
        let argument = match number {
            0 => "{{.params.id}}".to_owned(),
            _ => format!("{{{{.steps.s{before}.output.id}}}} of {{{{.params.id}}}}"),
        };
        let _ =
            writeln!(out, "  - id: s{number}\n    tool: notes.get\n    arguments:\n      id: '{argument}'");
        if number > 0 {
            let _ = writeln!(out, "    dependsOn: [s{before}]");
        }
    }
    out
}

fn plan(chain: bool) -> RunPlan {
    let mut definition = match definition::parse_file(&file(chain)) {
        Ok(definition) => definition,
        Err(problems) => panic!("{problems}"),
    };
    let params = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    let target = StepTarget {
        facade: "notes".into(),
        action: "get".into(),
        params: Arc::new(object(params)),
        action_argument: None,
        repeatable: true,
        changes: false,
        durable: false,
    };
    let workflow = Arc::new(definition.workflows.remove(0));
    let targets = workflow.steps.iter().map(|_| Some(target.clone())).collect();
    RunPlan { targets, compensations: Vec::new(), workflow }
}

fn object(value: Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

/// Reply of about one kilobyte, like that of a notes facade.
fn data() -> Value {
    let one = |number: usize| json!({"id": format!("n_{number}"), "text": "The loggia faces south, and has tiles.", "tags": ["house", "decisions"], "done": false});
    json!({"id": "n_17", "items": (0..9).map(one).collect::<Vec<_>>(), "total": 9})
}

/// Runs to the end; with `parked`, the state is serialized and restored at each event.
fn run(plan: &RunPlan, replies: Vec<Reply>, parked: bool) -> usize {
    let start_time = "2026-01-01T00:00:00Z".to_owned();
    let params = object(json!({"id": 17}));
    let (mut state, mut effects) =
        begin(plan, RunStart { id: "run".into(), start_time, params, seed: 1, dry: None });
    let (mut replies, mut open, mut now, mut calls) = (replies.into_iter(), Vec::new(), Duration::ZERO, 0);
    loop {
        for effect in effects {
            match effect {
                RunEffect::Call { task, params, .. } => {
                    black_box(params);
                    open.push(task);
                }
                RunEffect::Done(outcome) => {
                    assert!(matches!(*outcome, RunOutcome::Completed(_)), "{outcome:?}");
                    return calls;
                }
                _ => {}
            }
        }
        let (Some(task), Some(reply)) = (open.pop(), replies.next()) else { return calls };
        calls += 1;
        now += Duration::from_millis(1);
        black_box(state.due());
        if parked {
            let written = serde_json::to_vec(&state).unwrap_or_default();
            state = match serde_json::from_slice::<RunState>(&written) {
                Ok(state) => state,
                Err(error) => panic!("{error}"),
            };
        }
        effects = step(plan, &mut state, now, RunEvent::replied(task, reply));
    }
}

fn workflow(c: &mut Criterion) {
    let bytes = data().to_string().len();
    assert!((900..=1100).contains(&bytes), "a reply takes {bytes} bytes");
    let replies = || (0..STEPS).map(|_| Reply::data(data())).collect::<Vec<_>>();
    let mut group = c.benchmark_group("workflow");
    for (name, chain) in [("a chain of 100 steps", true), ("100 steps, ten at once", false)] {
        let plan = plan(chain);
        assert_eq!(run(&plan, replies(), false), STEPS);
        group.bench_function(name, |b| {
            b.iter_batched(replies, |replies| run(&plan, replies, false), BatchSize::LargeInput)
        });
    }
    let chain = plan(true);
    group.sample_size(10);
    group.bench_function("a chain of 100 steps, written down at each", |b| {
        b.iter_batched(replies, |replies| run(&chain, replies, true), BatchSize::LargeInput);
    });
    let text = file(true);
    group.bench_function("a file of 100 steps", |b| {
        b.iter(|| definition::parse_file(black_box(&text)).is_ok())
    });
    group.finish();
}

criterion_group!(benches, workflow);
criterion_main!(benches);
