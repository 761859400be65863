//! The machine during one transition, and the primitives of all transitions.

use std::{sync::Arc, time::Duration};

use loggia_facade::Object;

use super::report;
use crate::{
    definition::{PARALLEL, WorkflowStep},
    engine::{
        failure::{SecretRedactor, StepError},
        model::{RunEffect, RunOutcome, RunPlan, StepChange, StepNews, TaskId},
        state::{RunState, RunStop, StepEnd, StepPhase, context},
    },
};

/// Maximum length of a template's text in an error, in characters. Texts are redacted before they are cut.
pub(crate) const MAX_SHOWN: usize = 100;

/// Run during one transition.
pub(crate) struct RunMachine<'a> {
    pub plan: &'a RunPlan,
    pub state: &'a mut RunState,
    pub effects: Vec<RunEffect>,
    /// Steps and items started in this transition.
    started: usize,
}

/// Maximum number of steps and items that one transition starts. Each may cost the time of several templates, and a
/// step that ends immediately makes room for the next.
const MAX_STARTS: usize = PARALLEL;

impl<'a> RunMachine<'a> {
    pub(crate) fn new(plan: &'a RunPlan, state: &'a mut RunState) -> Self {
        Self { plan, state, effects: Vec::new(), started: 0 }
    }

    /// Returns true if the rest must wait for the next transition, so that the driver can serve others.
    pub(crate) fn has_reached_start_limit(&self) -> bool {
        self.started >= MAX_STARTS
    }

    /// Counts a started step or item.
    pub(crate) fn count_start(&mut self) {
        self.started += 1;
    }

    pub(crate) fn has_room(&self) -> bool {
        self.state.active_tasks() < PARALLEL
    }

    /// Moves a step into an active phase.
    pub(crate) fn enter_phase(&mut self, index: usize, phase: StepPhase) {
        self.record_entry(index, context::running_entry());
        self.state.phases[index] = phase;
    }

    /// Completes a step.
    pub(crate) fn complete_step(&mut self, index: usize, entry: Object) {
        self.end_step(index, StepEnd::Completed, entry, StepChange::Completed);
    }

    pub(crate) fn skip_step(&mut self, index: usize) {
        let entry = context::skipped_entry(self.definition(index).default_results.clone());
        self.end_step(index, StepEnd::Skipped, entry, StepChange::Skipped);
    }

    /// Fails a step: the run continues without it, or ends.
    pub(crate) fn fail_step(&mut self, index: usize, error: StepError) {
        self.fail_step_with(index, error, None);
    }

    /// Fails a step that still has an output; its default takes precedence.
    pub(crate) fn fail_step_with(
        &mut self,
        index: usize,
        error: StepError,
        output: Option<serde_json::Value>,
    ) {
        let step = self.definition(index);
        self.drop_tasks(index);
        self.close_step(index);
        if self.continues_after(step) {
            let redacted = self.redactor().redact_sentence(&error.message);
            let entry = context::failed_entry(&error.message, step.default_results.clone().or(output));
            self.end_step(index, StepEnd::Failed, entry, StepChange::Failed(redacted));
        } else {
            self.stop_at(index, error);
        }
    }

    /// Stops the run because of a step. In a saga, calls of the step may still be under way.
    pub(crate) fn stop_at(&mut self, index: usize, error: StepError) {
        let redacted = self.redactor().redact_sentence(&error.message);
        self.notify(index, None, StepChange::Failed(redacted));
        self.stop_run(RunStop {
            code: error.code.to_owned(),
            step: Some(index),
            message: error.message,
            cause: error.cause,
            inputs: error.inputs,
        });
    }

    /// Marks a step as ended, with no active tasks.
    pub(crate) fn close_step(&mut self, index: usize) {
        self.state.phases[index] = StepPhase::Ended(StepEnd::Failed);
    }

    pub(super) fn end_step(&mut self, index: usize, end: StepEnd, entry: Object, what: StepChange) {
        self.record_entry(index, entry);
        self.state.phases[index] = StepPhase::Ended(end);
        self.notify(index, None, what);
    }

    pub(super) fn record_entry(&mut self, index: usize, entry: Object) {
        // The phases tell which steps already have an entry.
        let known = |phase: &&StepPhase| !matches!(phase, StepPhase::Waiting);
        let place = self.state.phases[..index].iter().filter(known).count();
        self.state.context.record_step(&self.definition(index).id, place, entry);
    }

    pub(crate) fn notify(&mut self, step: usize, item: Option<usize>, what: StepChange) {
        let ended = self.state.phases.iter().filter(|phase| phase.has_ended()).count();
        self.effects.push(RunEffect::Tell(StepNews { step, item, change: what, ended }));
    }

    /// Stops the run. A saga undoes what it has done before it ends; the first reason stands.
    pub(crate) fn stop_run(&mut self, stop: RunStop) {
        if self.is_undoing() {
            return;
        }
        match self.plan.workflow.saga {
            Some(_) => self.begin_undoing(stop),
            None => self.end_run(stop),
        }
    }

    /// Returns true if no further step starts.
    pub(crate) fn has_stopped(&self) -> bool {
        self.state.is_over || self.is_undoing()
    }

    /// Ends the run with a report, and drops active tasks.
    pub(crate) fn end_run(&mut self, stop: RunStop) {
        for index in 0..self.state.phases.len() {
            self.drop_tasks(index);
        }
        let report = report::build_report(self.plan, self.state, stop);
        self.state.is_over = true;
        self.effects.push(RunEffect::Done(Box::new(RunOutcome::Failed(Box::new(report)))));
    }

    /// Drops the active tasks of a step.
    pub(crate) fn drop_tasks(&mut self, step: usize) {
        let tasks: Vec<TaskId> = match &self.state.phases[step] {
            StepPhase::Asking { .. } => vec![TaskId::first(step, None)],
            StepPhase::Calling { call, .. } if call.retry_at.is_none() => {
                vec![TaskId::first(step, None).with_attempt(call.attempt)]
            }
            StepPhase::Each(each) => {
                let open = each.calls.iter().filter(|(_, call)| call.retry_at.is_none());
                open.map(|(item, call)| TaskId::first(step, Some(*item)).with_attempt(call.attempt)).collect()
            }
            _ => return,
        };
        self.effects.extend(tasks.into_iter().map(RunEffect::Drop));
    }

    /// Returns true if the run continues after a failure of this step.
    pub(crate) fn continues_after(&self, step: &WorkflowStep) -> bool {
        self.plan.workflow.continues || step.on_error.continues()
    }

    pub(crate) fn definition(&self, index: usize) -> &'a WorkflowStep {
        &self.plan.workflow.steps[index]
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.plan.workflow.strict
    }

    pub(crate) fn now(&self) -> Duration {
        self.state.clock.now
    }

    pub(crate) fn deadline(&self, step: &WorkflowStep) -> Duration {
        self.now().saturating_add(step.timeout)
    }

    /// Returns the redactor for texts of this run.
    pub(crate) fn redactor(&self) -> Arc<SecretRedactor> {
        report::redactor(self.plan, self.state)
    }
}
