//! Scheduling: which step starts when, and how a run ends.
//!
//! A step starts as soon as its dependencies have ended, in file order, while fewer than [`PARALLEL`] tasks are
//! active. The order of completion influences nothing.

use std::{sync::Arc, time::Duration};

use loggia_facade::{Object, code};

use super::report::{self, RunStop};
use crate::{
    definition::{OnError, PARALLEL, StepKind, ToolCall, WorkflowStep},
    engine::{
        data::{arguments, condition, output},
        failure::{STEP_FAILED, SecretRedactor, StepError},
        model::{CallTarget, News, RunEffect, RunEvent, RunOutcome, RunPlan, TaskId, What},
        state::{CallState, RunState, StepEnd, StepPhase, context},
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
    begun: usize,
}

/// Maximum number of steps and items that one transition starts. Each may cost the time of several templates, and a
/// step that ends immediately makes room for the next.
const BEGIN: usize = PARALLEL;

impl<'a> RunMachine<'a> {
    pub(crate) fn new(plan: &'a RunPlan, state: &'a mut RunState) -> Self {
        Self { plan, state, effects: Vec::new(), begun: 0 }
    }

    /// Checks that the state belongs to the plan. A run of another definition ends.
    pub(crate) fn check_plan(&mut self) -> bool {
        let fits = self.state.phases.len() == self.plan.workflow.steps.len();
        if !fits {
            self.state.phases = self.plan.workflow.steps.iter().map(|_| StepPhase::Waiting).collect();
            let message = "the workflow has changed since this run started".to_owned();
            self.stop_run(RunStop { code: STEP_FAILED, message, ..RunStop::default() });
        }
        fits
    }

    /// Applies an event. Events of inactive tasks are ignored.
    pub(crate) fn apply(&mut self, event: RunEvent) {
        match event {
            RunEvent::Due => {}
            RunEvent::Cancelled => self.stop_run(RunStop {
                code: code::CANCELLED,
                message: "the workflow was cancelled".to_owned(),
                ..RunStop::default()
            }),
            RunEvent::Replied(task, reply) => self.on_reply(task, reply),
            RunEvent::Failed(task, failure) if self.is_asking(task) => {
                self.on_question_failure(task.step, failure)
            }
            RunEvent::Failed(task, failure) => self.on_failure(task, failure),
            RunEvent::Answered(task, answer) if self.is_asking(task) => self.on_answer(task.step, answer),
            RunEvent::Answered(..) => {}
        }
    }

    /// Applies timeouts, and retries tasks whose pause is over.
    pub(crate) fn apply_timeouts(&mut self) {
        if !self.state.over
            && self.state.clock.left.is_zero()
            && !self.state.phases.iter().all(StepPhase::has_ended)
        {
            let message = format!("workflow timed out after {:?}", self.plan.workflow.timeout);
            return self.stop_run(RunStop { code: code::TIMED_OUT, message, ..RunStop::default() });
        }
        for index in 0..self.state.phases.len() {
            if self.state.over {
                return;
            }
            let now = self.now();
            match &self.state.phases[index] {
                StepPhase::Asking { until } if *until <= now => self.on_question_timeout(index),
                StepPhase::Calling { until, .. } if *until <= now => self.on_call_timeout(index),
                StepPhase::Calling { call, .. } if call.again.is_some_and(|again| again <= now) => {
                    self.retry_call(index);
                }
                StepPhase::Each(each) if each.until <= now => self.on_loop_timeout(index),
                StepPhase::Each(_) => self.retry_items(index),
                _ => {}
            }
        }
    }

    /// Starts every step that can start, and ends the run if none is left.
    pub(crate) fn advance(&mut self) {
        self.state.more = false;
        let mut moved = self.has_room();
        while moved {
            moved = false;
            for index in 0..self.state.phases.len() {
                if self.has_reached_start_limit() {
                    self.state.more = true;
                    return;
                }
                let began = match self.state.phases[index] {
                    StepPhase::Waiting if self.is_ready(index) => {
                        self.begun += 1;
                        self.begin_step(index);
                        true
                    }
                    StepPhase::Each(_) => self.begin_items(index),
                    _ => false,
                };
                if self.state.over {
                    return;
                }
                // Capacity is checked only after a start: checking at each step would dominate the cost.
                if began && !self.has_room() {
                    moved = false;
                    break;
                }
                moved |= began;
            }
        }
        if self.state.phases.iter().all(StepPhase::has_ended) {
            self.complete_run();
        } else if self.state.active_tasks() == 0 {
            // The definition's checks exclude this; an error is better than a run that waits forever.
            let message = "circular dependency: the remaining steps wait for each other".to_owned();
            self.stop_run(RunStop { code: STEP_FAILED, message, ..RunStop::default() });
        }
    }

    /// Returns true if the rest must wait for the next transition, so that the driver can serve others.
    pub(crate) fn has_reached_start_limit(&self) -> bool {
        self.begun >= BEGIN
    }

    /// Counts a started item.
    pub(crate) fn count_start(&mut self) {
        self.begun += 1;
    }

    fn is_ready(&self, index: usize) -> bool {
        let ended = |of: &usize| self.state.phases.get(*of).is_none_or(StepPhase::has_ended);
        self.definition(index).depends_on.iter().all(ended)
    }

    pub(crate) fn has_room(&self) -> bool {
        self.state.active_tasks() < PARALLEL
    }

    fn begin_step(&mut self, index: usize) {
        let step = self.definition(index);
        let show = |text: &str| self.redactor().redact_to(text, MAX_SHOWN);
        match condition::evaluate(step, &self.state.context.scope(None), self.is_strict(), show) {
            Err(error) => self.fail_step(index, error),
            Ok(false) => self.skip_step(index),
            Ok(true) => match &step.kind {
                StepKind::Tool(call) => self.begin_call(index, call),
                StepKind::Ask(ask) => self.begin_question(index, ask),
                StepKind::ForEach(each) => self.begin_loop(index, each),
            },
        }
    }

    fn begin_call(&mut self, index: usize, call: &ToolCall) {
        let step = self.definition(index);
        let target = match self.target(index, call) {
            Ok(target) => target,
            Err(error) => return self.fail_step(index, error),
        };
        let scope = self.state.context.scope(None);
        match arguments::expand_parameters(&step.id, call, target, &scope, self.is_strict()) {
            Err(error) => self.fail_step(index, error),
            Ok(params) => {
                self.enter_phase(
                    index,
                    StepPhase::Calling { call: CallState::new(params.clone()), until: self.deadline(step) },
                );
                self.notify(index, None, What::Started);
                self.request_call(TaskId { step: index, item: None, attempt: 0 }, target, params);
            }
        }
    }

    /// Requests one attempt of a call.
    pub(crate) fn request_call(&mut self, task: TaskId, target: &CallTarget, params: Object) {
        let step = &self.definition(task.step).id;
        let step = escape_key_part(step);
        let idempotency_key = match task.item {
            None => format!("{}/{step}", self.state.id),
            Some(item) => format!("{}/{step}#{item}", self.state.id),
        };
        let (facade, action) = (target.facade.clone(), target.action.clone());
        self.effects.push(RunEffect::Call { task, facade, action, params, idempotency_key });
    }

    /// Returns the target of a step's call.
    pub(crate) fn target(&self, index: usize, call: &ToolCall) -> Result<&'a CallTarget, StepError> {
        self.plan.targets.get(index).and_then(Option::as_ref).ok_or_else(|| {
            let id = &self.definition(index).id;
            StepError::new(format!(
                "failed to route tool {} in step {id}: there is no such action",
                call.tool
            ))
        })
    }

    /// Moves a step into an active phase.
    pub(crate) fn enter_phase(&mut self, index: usize, phase: StepPhase) {
        self.record_entry(index, context::running_entry());
        self.state.phases[index] = phase;
    }

    /// Completes a step.
    pub(crate) fn complete_step(&mut self, index: usize, entry: Object) {
        self.end_step(index, StepEnd::Completed, entry, What::Completed);
    }

    pub(crate) fn skip_step(&mut self, index: usize) {
        let entry = context::skipped_entry(self.definition(index).default_results.clone());
        self.end_step(index, StepEnd::Skipped, entry, What::Skipped);
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
        let redacted = self.redactor().redact_sentence(&error.message);
        if self.continues_after(step) {
            let entry = context::failed_entry(&error.message, step.default_results.clone().or(output));
            self.end_step(index, StepEnd::Failed, entry, What::Failed(redacted));
        } else {
            self.notify(index, None, What::Failed(redacted));
            self.stop_run(RunStop {
                code: error.code,
                step: Some(index),
                message: error.message,
                cause: error.cause,
                inputs: error.inputs,
            });
        }
    }

    /// Marks a step as ended, with no active tasks.
    pub(crate) fn close_step(&mut self, index: usize) {
        self.state.phases[index] = StepPhase::Ended(StepEnd::Failed);
    }

    fn end_step(&mut self, index: usize, end: StepEnd, entry: Object, what: What) {
        self.record_entry(index, entry);
        self.state.phases[index] = StepPhase::Ended(end);
        self.notify(index, None, what);
    }

    fn record_entry(&mut self, index: usize, entry: Object) {
        // The phases tell which steps already have an entry.
        let known = |phase: &&StepPhase| !matches!(phase, StepPhase::Waiting);
        let place = self.state.phases[..index].iter().filter(known).count();
        self.state.context.record_step(&self.definition(index).id, place, entry);
    }

    pub(crate) fn notify(&mut self, step: usize, item: Option<usize>, what: What) {
        let ended = self.state.phases.iter().filter(|phase| phase.has_ended()).count();
        self.effects.push(RunEffect::Tell(News { step, item, what, ended }));
    }

    /// Completes the run with its result.
    fn complete_run(&mut self) {
        let milliseconds = u64::try_from(self.now().as_millis()).unwrap_or(u64::MAX);
        self.state.context.complete_run(self.state.phases.len(), milliseconds);
        match output::build_result(&self.plan.workflow, &self.state.phases, &self.state.context) {
            Ok(value) => {
                self.state.over = true;
                self.effects.push(RunEffect::Done(Box::new(RunOutcome::Completed(value))));
            }
            Err(error) => self.stop_run(RunStop {
                code: error.code,
                message: error.message,
                cause: error.cause,
                ..RunStop::default()
            }),
        }
    }

    /// Stops the run with a report, and drops active tasks.
    pub(crate) fn stop_run(&mut self, stop: RunStop) {
        for index in 0..self.state.phases.len() {
            self.drop_tasks(index);
        }
        let report = report::build_report(self.plan, self.state, stop);
        self.state.over = true;
        self.effects.push(RunEffect::Done(Box::new(RunOutcome::Failed(Box::new(report)))));
    }

    /// Drops the active tasks of a step.
    pub(crate) fn drop_tasks(&mut self, step: usize) {
        let tasks: Vec<TaskId> = match &self.state.phases[step] {
            StepPhase::Asking { .. } => vec![TaskId { step, item: None, attempt: 0 }],
            StepPhase::Calling { call, .. } if call.again.is_none() => {
                vec![TaskId { step, item: None, attempt: call.attempt }]
            }
            StepPhase::Each(each) => {
                let open = each.calls.iter().filter(|(_, call)| call.again.is_none());
                open.map(|(item, call)| TaskId { step, item: Some(*item), attempt: call.attempt }).collect()
            }
            _ => return,
        };
        self.effects.extend(tasks.into_iter().map(RunEffect::Drop));
    }

    /// Returns true if the run continues after a failure of this step.
    pub(crate) fn continues_after(&self, step: &WorkflowStep) -> bool {
        self.plan.workflow.continues || step.on_error == OnError::Continue
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

/// Escapes a step's id for use in an idempotency key, where `/` and `#` are separators. A nested workflow derives its
/// keys from this one, and no two calls may share a key.
fn escape_key_part(id: &str) -> String {
    id.replace('%', "%25").replace('/', "%2F").replace('#', "%23")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_steps_make_the_same_part_of_a_key() {
        let ids = ["a", "a/b", "a%2Fb", "a#0", "a-b", "a%230"];
        let parts: std::collections::HashSet<String> = ids.iter().map(|id| escape_key_part(id)).collect();
        assert_eq!(parts.len(), ids.len());
        assert!(parts.iter().all(|part| !part.contains(['/', '#'])), "{parts:?}");
    }
}
