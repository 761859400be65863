//! Entry points: the start of a run, and one transition.

use std::{collections::BTreeMap, sync::OnceLock, time::Duration};

use super::{
    machine::RunMachine,
    model::{RunEffect, RunEvent, RunPlan, RunStart},
    state::{RunClock, RunState, SagaState, StepPhase, TemplateContext},
};

/// Starts a run.
pub fn begin(plan: &RunPlan, begin: RunStart) -> (RunState, Vec<RunEffect>) {
    let mut state = RunState {
        id: begin.id.clone(),
        dry: begin.dry,
        seed: begin.seed,
        context: TemplateContext::new(begin),
        phases: plan.workflow.steps.iter().map(|_| StepPhase::Waiting).collect(),
        clock: RunClock { now: Duration::ZERO, remaining: plan.workflow.timeout },
        held_bytes: 0,
        planned: Vec::new(),
        saga: SagaState::default(),
        keys: BTreeMap::new(),
        is_over: false,
        has_more: false,
        secrets: OnceLock::new(),
    };
    let mut machine = RunMachine::new(plan, &mut state);
    machine.proceed();
    let effects = machine.effects;
    (state, effects)
}

/// Applies one event. Events of inactive tasks are ignored.
pub fn step(plan: &RunPlan, state: &mut RunState, now: Duration, event: RunEvent) -> Vec<RunEffect> {
    if state.is_over && !matches!(event, RunEvent::Retried(_)) {
        return Vec::new();
    }
    state.advance_clock(now);
    let mut machine = RunMachine::new(plan, state);
    if machine.check_plan() {
        // An event that arrived in time counts, even if its deadline has passed since.
        machine.apply(event);
        machine.apply_timeouts();
        machine.proceed();
    }
    machine.effects
}
