//! Properties of every workflow, for any replies in any order.
//!
//! The simulator itself asserts in every run that a restored state behaves alike, that nothing waits forever, that
//! dropped tasks were active, and that no task is active at the end.

use std::{collections::BTreeMap, time::Duration};

use loggia_facade::{Answer, Failure, Reply};
use proptest::{prelude::*, test_runner::RngSeed};
use serde_json::{Value, json};

use super::{
    super::{RunEffect, RunEvent, RunOutcome, RunPlan, RunStart, RunState, TaskId, begin, step},
    plans::{object, plan},
    simulator::{Asked, Comes, Run, Told, fails, ok, run_seeded, says},
};

/// Step of a random workflow.
#[derive(Debug, Clone)]
struct Spec {
    /// Dependencies among the steps before it in [`Flow::order`].
    needs: u32,
    kind: u8,
    on_error: u8,
    condition: u8,
    /// Number of failing attempts.
    failures: u32,
}

/// Random workflow with two sets of durations.
#[derive(Debug, Clone)]
struct Flow {
    specs: Vec<Spec>,
    /// Order in the file, random, so that a step may precede its dependencies.
    order: Vec<usize>,
    times: [Vec<u64>; 2],
    seeds: [u64; 2],
}

fn flows() -> impl Strategy<Value = Flow> {
    let spec =
        (any::<u32>(), 0u8..8, 0u8..4, 0u8..6, prop_oneof![3 => Just(0u32), 1 => 1u32..4, 1 => Just(99u32)])
            .prop_map(|(needs, kind, on_error, condition, failures)| Spec {
                // Few dependencies make wide workflows, which are the interesting ones.
                needs: needs & (needs >> 7) & (needs >> 13),
                kind,
                on_error,
                condition,
                failures,
            });
    prop::collection::vec(spec, 1..24).prop_flat_map(|specs| {
        let count = specs.len();
        let times = || prop::collection::vec(0u64..40, count);
        let order = Just((0..count).collect::<Vec<_>>()).prop_shuffle();
        (Just(specs), order, times(), times(), any::<[u64; 2]>())
            .prop_map(|(specs, order, a, b, seeds)| Flow { specs, order, times: [a, b], seeds })
    })
}

impl Flow {
    fn needs(&self, step: usize) -> Vec<usize> {
        (0..step).filter(|other| self.specs[step].needs >> other & 1 == 1).collect()
    }

    fn plan(&self, mode: &str) -> RunPlan {
        let steps = self.order.iter().map(|step| {
            let (spec, needs) = (&self.specs[*step], self.needs(*step));
            let seen: Vec<String> =
                needs.iter().map(|of| format!("{{{{json .steps.s{of}.output}}}} {{{{.steps.s{of}.status}}}}")).collect();
            let on_error = match spec.on_error {
                0 => json!({"action": "abort"}),
                1 => json!({"action": "continue"}),
                _ => json!({"action": "retry", "retryCount": spec.on_error, "retryDelay": 20}),
            };
            let depends_on: Vec<String> = needs.iter().map(|of| format!("s{of}")).collect();
            let mut out = json!({"id": format!("s{step}"), "dependsOn": depends_on, "onError": on_error,
                "defaultResults": {"instead": step}});
            let more = match spec.kind {
                0 => json!({"type": "elicitation", "message": seen.concat(), "onDecline": "continue", "onCancel": "continue"}),
                1 => json!({"type": "forEach", "collection": "[1, 2, 3]", "maxParallel": 2, "step": {"tool": "t.run",
                    "onError": on_error, "arguments": {"seen": seen.concat(), "item": "{{.forEach.item}}"}}}),
                _ => json!({"tool": "t.run", "arguments": {"seen": seen}}),
            };
            object(more).into_iter().for_each(|(name, value)| out[name] = value);
            let undo = |of: &str| json!({"tool": "t.undo", "arguments": {"of": of}});
            match spec.kind {
                0 => {}
                1 => out["step"]["compensate"] = undo("{{.forEach.output.item}}"),
                _ => out["compensate"] = undo(&format!("{{{{.steps.s{step}.output.of}}}}")),
            }
            if spec.condition == 0 {
                out["condition"] = "false".into();
            }
            out
        });
        let mut flow = json!({"steps": steps.collect::<Vec<_>>(), "failureMode": mode});
        if mode == "saga" {
            flow["saga"] = 60_000.into();
        }
        // Every other result includes all steps instead of the last one.
        if self.specs[0].needs.is_multiple_of(2) {
            let all = json!({"type": "object", "value": "{{json .steps}}"});
            let count = json!({"type": "integer", "value": "{{len .steps}}"});
            flow["output"] = json!({"properties": {"all": all, "count": count}});
        }
        plan(flow)
    }

    /// Result of an attempt, equal in every order.
    fn told(&self, asked: &Asked, times: usize) -> Told {
        let step: usize = asked.id[1..].parse().unwrap();
        // In one run later items take longer, in the other earlier ones.
        let item = asked.task.item.unwrap_or(0) as u64;
        let after = self.times[times][step] + if times == 0 { item * 3 } else { 9 - item * 3 };
        let spec = &self.specs[step];
        match (spec.kind, spec.failures) {
            (0, 0) => says(after, Answer::Accepted(json!({"yes": step}))),
            (0, 1..99) => says(after, Answer::Declined),
            _ if asked.task.undoes => ok(after, json!({})),
            (_, failures) if asked.task.attempt < failures => fails(after, "no"),
            _ => ok(after, json!({"of": step, "item": asked.task.item, "half": 0.1 + step as f64 / 3.0})),
        }
    }

    fn run(&self, plan: &RunPlan, times: usize) -> Run {
        run_seeded(plan, json!({}), self.seeds[times], |asked| self.told(asked, times))
    }
}

/// Parameters of each call and question, by step and item.
fn given(run: &Run) -> BTreeMap<(usize, Option<usize>), Value> {
    run.asked.iter().map(|(_, asked)| ((asked.task.step, asked.task.item), asked.params.clone())).collect()
}

/// Entries of the ended steps, as text: the order of members counts.
fn steps(run: &Run) -> String {
    serde_json::to_value(&run.state).unwrap()["context"]["steps"].to_string()
}

/// Deterministic cases, unless `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let told = std::env::var_os("PROPTEST_CASES").is_some();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if told { config } else { ProptestConfig { cases: 60, rng_seed: RngSeed::Fixed(17), ..config } }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_step_begins_before_its_dependencies_have_ended_and_ten_are_under_way_at_most(flow in flows()) {
        let plan = flow.plan("abort");
        let run = flow.run(&plan, 0);
        prop_assert!(run.most <= 10, "{} at once", run.most);
        let mut ended = vec![false; plan.workflow.steps.len()];
        for news in run.news.iter().filter(|news| news.item.is_none()) {
            use super::super::StepChange::*;
            match news.change {
                Started | Asking => {
                    let needs = &plan.workflow.steps[news.step].depends_on;
                    prop_assert!(needs.iter().all(|of| ended[*of]), "{news:?}");
                }
                Completed | Failed(_) | Skipped | Planned => {
                    prop_assert!(!ended[news.step], "{news:?} twice");
                    ended[news.step] = true;
                    prop_assert_eq!(news.ended, ended.iter().filter(|ended| **ended).count());
                }
                Stopped | Retrying(..) | Undoing | Undone | UndoFailed(_) => {}
            }
        }
    }

    #[test]
    fn a_saga_undoes_each_completed_call_once_the_last_first(flow in flows()) {
        let plan = flow.plan("saga");
        let run = flow.run(&plan, 0);
        let key = |asked: &Asked| (asked.task.step, asked.task.item);
        let (undone, made): (Vec<_>, Vec<_>) = run.asked.iter().partition(|(_, asked)| asked.task.undoes);
        let undone: Vec<_> = undone.iter().map(|(_, asked)| key(asked)).collect();
        let mut completed: Vec<_> = made.iter().filter_map(|(began, asked)| match flow.told(asked, 0) {
            Some((after, Comes::Reply(_))) => Some((*began + Duration::from_millis(after), key(asked))),
            _ => None,
        }).collect();
        completed.sort_by_key(|(at, _)| *at);
        match &run.outcome {
            RunOutcome::Completed(_) => prop_assert_eq!(undone, []),
            RunOutcome::Failed(report) => {
                let report = report.undo.as_ref().unwrap();
                prop_assert!(report.undone, "{report:?}");
                prop_assert_eq!(report.compensated.len(), undone.len());
                // Calls that completed at the same time may be undone in either order.
                let at = |call: &(usize, Option<usize>)| completed.iter().find(|(_, key)| key == call).map(|(at, _)| *at);
                let times: Vec<_> = undone.iter().map(at).collect();
                prop_assert!(times.iter().all(Option::is_some) && times.is_sorted_by(|a, b| a >= b), "{times:?}");
                prop_assert_eq!(undone.len(), completed.len());
            }
        }
    }

    #[test]
    fn the_order_of_completion_changes_nothing_where_failures_do_not_abort(flow in flows()) {
        let plan = flow.plan("continue");
        let [a, b] = [0, 1].map(|times| flow.run(&plan, times));
        prop_assert_eq!(&a.outcome, &b.outcome);
        prop_assert_eq!(given(&a), given(&b));
        prop_assert_eq!(steps(&a), steps(&b));
    }

    /// After an abort, timing decides how far other steps got. Independent of timing: whether the run fails, that the
    /// blamed step fails by itself, that steps completed in both runs completed alike, and that each step is in
    /// exactly one list.
    #[test]
    fn an_abort_blames_a_step_that_fails_and_each_step_is_in_one_list(flow in flows()) {
        let plan = flow.plan("abort");
        let [a, b] = [0, 1].map(|times| flow.run(&plan, times));
        match (&a.outcome, &b.outcome) {
            (RunOutcome::Completed(a), RunOutcome::Completed(b)) => prop_assert_eq!(a, b),
            (RunOutcome::Failed(_), RunOutcome::Failed(_)) => {}
            _ => prop_assert!(false, "{:?} or {:?}", a.outcome, b.outcome),
        }
        let (given_a, given_b) = (given(&a), given(&b));
        for (task, params) in &given_a {
            prop_assert!(given_b.get(task).is_none_or(|other| other == params), "{task:?}");
        }
        for run in [&a, &b] {
            let RunOutcome::Failed(report) = &run.outcome else { continue };
            let blamed = report.step.clone().unwrap();
            let spec = &flow.specs[blamed[1..].parse::<usize>().unwrap()];
            prop_assert!(spec.on_error != 1 && spec.failures > 0, "{blamed} does not fail");
            let lists = [&report.completed, &report.failed, &report.skipped, &report.stopped, &report.not_run];
            prop_assert!(report.failed.contains(&blamed), "{blamed} failed");
            let mut all: Vec<&String> = lists.into_iter().flatten().collect();
            all.sort();
            let mut steps: Vec<&String> = plan.workflow.steps.iter().map(|step| &step.id).collect();
            steps.sort();
            prop_assert_eq!(all, steps);
            for list in lists {
                let places = list.iter().map(|id| plan.workflow.steps.iter().position(|step| step.id == *id));
                prop_assert!(places.is_sorted(), "{list:?} is not in the definition's order");
            }
            prop_assert!(report.not_run.iter().all(|id| run.asked.iter().all(|(_, asked)| asked.id != *id)));
        }
    }

    /// Events of any kind cause no panic, and no effects after the end.
    #[test]
    fn any_sequence_of_events_is_taken(
        flow in flows(),
        events in prop::collection::vec((0usize..26, prop::option::of(0usize..4), 0u32..3, 0u8..9, 0u64..90_000), 0..120),
    ) {
        let plan = flow.plan("abort");
        let start = RunStart { id: "r".into(), start_time: String::new(), params: object(json!({})), seed: flow.seeds[0], dry: None };
        let (mut state, effects) = begin(&plan, start);
        let mut done = effects.iter().any(|effect| matches!(effect, RunEffect::Done(_)));
        let mut open: Vec<TaskId> = Vec::new();
        open.extend(effects.iter().filter_map(task));
        let mut now = Duration::ZERO;
        for (step_, item, attempt, kind, pause) in events {
            // Sometimes the clock runs backwards.
            now = if pause % 7 == 0 { now / 2 } else { now + Duration::from_millis(pause) };
            let stray = TaskId::first(step_, item).with_attempt(attempt);
            let task_ = if kind < 6 && !open.is_empty() { open[step_ % open.len()] } else { stray };
            let event = match kind % 6 {
                0 => RunEvent::Failed(task_, Failure::new("internal", "x")),
                1 => RunEvent::Answered(task_, Answer::Cancelled),
                2 => RunEvent::Answered(task_, Answer::Accepted(json!([]))),
                3 if pause < 900 => RunEvent::Cancelled,
                4 => RunEvent::Due,
                _ => RunEvent::replied(task_, Reply::data(json!({"x": pause}))),
            };
            let mut read: RunState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
            let effects = step(&plan, &mut state, now, event.clone());
            prop_assert_eq!(&step(&plan, &mut read, now, event), &effects);
            prop_assert!(!done || effects.is_empty(), "it goes on after its end: {effects:?}");
            done |= effects.iter().any(|effect| matches!(effect, RunEffect::Done(_)));
            prop_assert!(done == state.due().is_none());
            open.extend(effects.iter().filter_map(task));
        }
    }
}

fn task(effect: &RunEffect) -> Option<TaskId> {
    match effect {
        RunEffect::Call { task, .. } | RunEffect::Ask { task, .. } => Some(*task),
        _ => None,
    }
}
