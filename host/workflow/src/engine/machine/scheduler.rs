//! Scheduling: which step starts when, and how a run ends.
//!
//! A step starts as soon as its dependencies have ended, in file order, while fewer than [`PARALLEL`] tasks are
//! active. The order of completion influences nothing.

use loggia_facade::{Object, code};
use serde_json::Value;

use super::run_machine::{MAX_SHOWN, RunMachine};
use crate::{
    definition::{StepKind, ToolCall},
    engine::{
        data::{condition, output},
        failure::STEP_FAILED,
        model::{RunEffect, RunEvent, RunOutcome, StepChange, TaskId},
        state::{RunStop, StepPhase},
    },
};

impl RunMachine<'_> {
    /// Checks that the state belongs to the plan. A run of another definition ends.
    pub(crate) fn check_plan(&mut self) -> bool {
        let fits = self.state.phases.len() == self.plan.workflow.steps.len();
        if !fits {
            self.state.phases = self.plan.workflow.steps.iter().map(|_| StepPhase::Waiting).collect();
            let message = "the workflow has changed since this run started".to_owned();
            self.end_run(RunStop { code: STEP_FAILED.to_owned(), message, ..RunStop::default() });
        }
        fits
    }

    /// Applies an event. Events of inactive tasks are ignored.
    pub(crate) fn apply(&mut self, event: RunEvent) {
        match event {
            RunEvent::Due => {}
            RunEvent::Retried(from) => self.begin_again(from),
            RunEvent::Cancelled => self.stop_run(RunStop {
                code: code::CANCELLED.to_owned(),
                message: "the workflow was cancelled".to_owned(),
                ..RunStop::default()
            }),
            RunEvent::Stopped(message, unmade) => {
                self.take_back(&unmade);
                // What cannot be recorded cannot be undone, either.
                self.end_run(RunStop { code: code::UNAVAILABLE.to_owned(), message, ..RunStop::default() })
            }
            RunEvent::Replied(task, _) if task.undoes => self.on_undone(task),
            RunEvent::Failed(task, failure) if task.undoes => self.on_undo_failure(task, failure),
            RunEvent::Replied(task, entry) => self.on_reply(task, entry),
            RunEvent::Interrupted(task) => self.on_interruption(task),
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
        if !self.has_stopped()
            && self.state.clock.remaining.is_zero()
            && !self.state.phases.iter().all(StepPhase::has_ended)
        {
            let message = format!("workflow timed out after {:?}", self.plan.workflow.timeout);
            return self.stop_run(RunStop {
                code: code::TIMED_OUT.to_owned(),
                message,
                ..RunStop::default()
            });
        }
        for index in 0..self.state.phases.len() {
            if self.state.is_over {
                return;
            }
            let now = self.now();
            match &self.state.phases[index] {
                StepPhase::Asking { deadline } if *deadline <= now => self.on_question_timeout(index),
                StepPhase::Calling { deadline, .. } if *deadline <= now => self.on_call_timeout(index),
                StepPhase::Calling { call, .. } if call.retry_at.is_some_and(|retry_at| retry_at <= now) => {
                    self.retry_call(index);
                }
                StepPhase::Each(each) if each.deadline <= now => self.on_loop_timeout(index),
                StepPhase::Each(_) => self.retry_items(index),
                _ => {}
            }
        }
        self.apply_undo_timeouts();
    }

    /// Goes on: starts every step that can start, or undoes the next call.
    pub(crate) fn proceed(&mut self) {
        if !self.has_stopped() {
            self.advance();
        }
        if !self.state.is_over {
            self.undo();
        }
    }

    /// Starts every step that can start, and ends the run if none is left.
    fn advance(&mut self) {
        self.state.has_more = false;
        let mut moved = self.has_room();
        while moved {
            moved = false;
            for index in 0..self.state.phases.len() {
                if self.has_reached_start_limit() {
                    self.state.has_more = true;
                    return;
                }
                let began = match self.state.phases[index] {
                    StepPhase::Waiting if self.is_ready(index) => {
                        self.count_start();
                        self.begin_step(index);
                        true
                    }
                    StepPhase::Each(_) => self.begin_items(index),
                    _ => false,
                };
                if self.has_stopped() {
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
            self.stop_run(RunStop { code: STEP_FAILED.to_owned(), message, ..RunStop::default() });
        }
    }

    fn is_ready(&self, index: usize) -> bool {
        let ended = |of: &usize| self.state.phases.get(*of).is_none_or(StepPhase::has_ended);
        self.definition(index).depends_on.iter().all(ended)
    }

    fn begin_step(&mut self, index: usize) {
        let step = self.definition(index);
        if step.skips_missing && step.call().is_some_and(|call| self.target(index, call).is_err()) {
            return self.skip_step(index);
        }
        if self.plan_step(index) {
            return;
        }
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
        match self.prepare_call(index, call, None) {
            Err(error) => self.fail_step(index, error),
            Ok((_, call)) => {
                let deadline = self.deadline(self.definition(index));
                self.enter_phase(index, StepPhase::Calling { call: call.clone(), deadline });
                self.notify(index, None, StepChange::Started);
                self.request_call(TaskId::first(index, None), &call);
            }
        }
    }

    /// Completes the run with its result.
    fn complete_run(&mut self) {
        let milliseconds = u64::try_from(self.now().as_millis()).unwrap_or(u64::MAX);
        self.state.context.complete_run(self.state.phases.len(), milliseconds);
        if let Some(dry) = self.state.dry {
            let mut plan = Object::new();
            plan.insert("dry_run".to_owned(), dry.to_json());
            plan.insert("steps".to_owned(), Value::Array(std::mem::take(&mut self.state.planned)));
            self.state.is_over = true;
            let outcome = RunOutcome::Completed(Value::Object(plan));
            return self.effects.push(RunEffect::Done(Box::new(outcome)));
        }
        match output::build_result(&self.plan.workflow, &self.state.phases, &self.state.context) {
            Ok(value) => {
                self.state.is_over = true;
                self.effects.push(RunEffect::Done(Box::new(RunOutcome::Completed(value))));
            }
            Err(error) => self.stop_run(RunStop {
                code: error.code.to_owned(),
                message: error.message,
                cause: error.cause,
                ..RunStop::default()
            }),
        }
    }
}
