//! Transitions of sagas: a run that stops waits for the calls that change something, and then undoes what was done, the last
//! first.

use std::time::Duration;

use loggia_facade::{Failure, Object, code};
use serde_json::Value;

use super::run_machine::RunMachine;
use crate::{
    definition::{OnError, UndoRule},
    engine::{
        data::arguments,
        failure::{STEP_FAILED, StepError, TEMPLATE},
        model::{RunEffect, StepChange, TaskId},
        state::{ActiveUndo, DoneCall, RunStop, SagaEnding, StepCallState, StepEnd, StepPhase, UndoStatus},
        values::size_budget,
    },
};

impl RunMachine<'_> {
    /// Returns true if the run has stopped and undoes what it has done.
    pub(crate) fn is_undoing(&self) -> bool {
        self.state.saga.ending.is_some()
    }

    /// Returns true if calls of this step that are under way are waited for when the run stops.
    pub(crate) fn awaits_calls(&self, step: usize) -> bool {
        self.plan.workflow.saga.is_some() && self.plan.changes(step)
    }

    /// Notes that a call has completed, and prepares what undoes it. `seen`: the item with its output.
    pub(crate) fn note_done(&mut self, task: TaskId, key: Option<&str>, seen: Option<&Value>) {
        if !self.awaits_calls(task.step) {
            return;
        }
        let (step, call) = (self.definition(task.step), (task.step, task.item));
        let mut done = DoneCall {
            step: task.step,
            item: task.item,
            key: self.call_key(task, key),
            params: Object::new(),
            undo: UndoStatus::Remains,
        };
        let mut unprepared = None;
        match &step.undo {
            Some(UndoRule::Irreversible) => done.undo = UndoStatus::Irreversible,
            Some(UndoRule::Compensate(compensation)) => {
                let target = self.plan.target(TaskId { undoes: true, ..task });
                let scope = self.state.context.scope(seen);
                let expand = |target| {
                    arguments::expand_parameters(
                        &step.id,
                        &compensation.call,
                        target,
                        &scope,
                        self.is_strict(),
                    )
                };
                match target.map(expand) {
                    Some(Ok(params)) => {
                        let held_bytes = &mut self.state.held_bytes;
                        *held_bytes = held_bytes.saturating_add(size_budget::members_size(&params));
                        done.params = params;
                    }
                    Some(Err(error)) => unprepared = Some(error),
                    None => unprepared = Some(StepError::new("there is no such action")),
                }
            }
            None => unprepared = Some(StepError::new("the step has none")),
        }
        if let Some(error) = &unprepared {
            done.undo = UndoStatus::Failed { code: TEMPLATE.to_owned(), message: error.message.clone() };
        }
        let saga = &mut self.state.saga;
        saga.unknown.retain(|unknown| *unknown != call);
        saga.done.retain(|known| (known.step, known.item) != call);
        saga.done.push(done);
        if let Some(error) = unprepared {
            // Found at once, and not when it is needed.
            let message =
                format!("the compensation of step {} cannot be prepared: {}", step.id, error.message);
            let (code, step) = (STEP_FAILED.to_owned(), Some(task.step));
            self.stop_run(RunStop { code, message, step, cause: error.cause, inputs: None });
        }
    }

    /// Notes that a call may have taken effect, although it did not complete.
    pub(crate) fn note_unknown(&mut self, step: usize, item: Option<usize>) {
        if self.awaits_calls(step) && !self.state.saga.unknown.contains(&(step, item)) {
            self.state.saga.unknown.push((step, item));
        }
    }

    /// Stops the steps: calls that change something are waited for, all else is dropped.
    pub(crate) fn begin_undoing(&mut self, stop: RunStop) {
        self.state.has_more = false;
        self.state.saga.ending = Some(SagaEnding { stop, deadline: None, active: None });
        for index in 0..self.state.phases.len() {
            let is_open = matches!(
                self.state.phases[index],
                StepPhase::Calling { .. } | StepPhase::Asking { .. } | StepPhase::Each(_)
            );
            if is_open && !self.awaits_calls(index) {
                self.drop_tasks(index);
                self.stop_step(index);
            }
            match &mut self.state.phases[index] {
                StepPhase::Calling { call, .. } => match call.retry_at {
                    Some(_) => self.stop_step(index),
                    None => {
                        let task = TaskId::first(index, None).with_attempt(call.attempt);
                        self.effects.push(RunEffect::Cancel(task));
                    }
                },
                StepPhase::Each(each) => {
                    each.calls.retain(|(_, call)| call.retry_at.is_none());
                    let task = |(item, call): &(usize, StepCallState)| {
                        TaskId::first(index, Some(*item)).with_attempt(call.attempt)
                    };
                    self.effects.extend(each.calls.iter().map(task).map(RunEffect::Cancel));
                }
                _ => {}
            }
        }
    }

    /// Undoes the next call, and ends the run after the last, once no call is under way.
    pub(crate) fn undo(&mut self) {
        self.close_loops();
        loop {
            let Some(ending) = &self.state.saga.ending else { return };
            if ending.active.is_some() || self.state.active_tasks() > 0 {
                return;
            }
            let limit = self.plan.workflow.saga.as_ref().map_or(Duration::ZERO, |saga| saga.timeout);
            let deadline = ending.deadline.unwrap_or_else(|| self.now().saturating_add(limit));
            let next = self.state.saga.next_undo().filter(|_| !self.is_settled());
            let Some(place) = next else { return self.finish_undoing() };
            if deadline <= self.now() {
                let message = format!("it was not undone: the time for compensations, {limit:?}, is over");
                self.end_undo(place, UndoStatus::Failed { code: code::TIMED_OUT.to_owned(), message });
                continue;
            }
            if let Some(ending) = &mut self.state.saga.ending {
                ending.deadline = Some(deadline);
            }
            self.begin_undo(place, deadline);
        }
    }

    /// Returns true if an irreversible call was made, or may have been.
    fn is_settled(&self) -> bool {
        let is_irreversible = |(step, _): &(usize, Option<usize>)| {
            matches!(self.definition(*step).undo, Some(UndoRule::Irreversible))
        };
        self.state.saga.is_settled() || self.state.saga.unknown.iter().any(is_irreversible)
    }

    /// Closes loops whose last call has ended.
    fn close_loops(&mut self) {
        if !self.is_undoing() {
            return;
        }
        for index in 0..self.state.phases.len() {
            if matches!(&self.state.phases[index], StepPhase::Each(each) if each.calls.is_empty()) {
                self.stop_step(index);
            }
        }
    }

    fn stop_step(&mut self, index: usize) {
        self.state.phases[index] = StepPhase::Ended(StepEnd::Stopped);
        self.notify(index, None, StepChange::Stopped);
    }

    fn begin_undo(&mut self, place: usize, deadline: Duration) {
        let Some(done) = self.state.saga.done.get(place) else { return };
        let (step, item, key) = (done.step, done.item, format!("{}/undo", done.key));
        let task = TaskId { undoes: true, ..TaskId::first(step, item) };
        let Some(compensation) = self.definition(step).compensation() else {
            let message = "it has no compensation".to_owned();
            return self.end_undo(place, UndoStatus::Failed { code: STEP_FAILED.to_owned(), message });
        };
        let call = StepCallState::new(done.params.clone(), Some(key.clone()));
        let deadline = self.now().saturating_add(compensation.timeout).min(deadline);
        if let Some(ending) = &mut self.state.saga.ending {
            ending.active = Some(ActiveUndo { place, call: call.clone(), deadline });
        }
        self.notify(step, item, StepChange::Undoing);
        self.request(task, &call, key);
    }

    /// Returns the compensation under way, if this is its active attempt.
    fn find_undo(&self, task: TaskId) -> Option<&ActiveUndo> {
        let active = self.state.saga.ending.as_ref()?.active.as_ref()?;
        let done = self.state.saga.done.get(active.place)?;
        let is_it =
            (done.step, done.item) == (task.step, task.item) && active.call.is_attempting(task.attempt);
        is_it.then_some(active)
    }

    /// Handles the success of a compensation.
    pub(crate) fn on_undone(&mut self, task: TaskId) {
        if let Some(place) = self.find_undo(task).map(|active| active.place) {
            self.end_undo(place, UndoStatus::Undone);
        }
    }

    /// Handles the failure of a compensation: schedules a retry or gives up.
    pub(crate) fn on_undo_failure(&mut self, task: TaskId, failure: Failure) {
        let Some(active) = self.find_undo(task) else { return };
        let (place, deadline) = (active.place, active.deadline);
        let failure = self.redact_for_call(task, &active.call.params, failure);
        let on_error =
            self.definition(task.step).compensation().map_or(&OnError::Abort, |undo| &undo.on_error);
        let Some(pause) = self.pause(on_error, task, &failure, deadline) else {
            let Failure { code, message, .. } = failure;
            return self.end_undo(place, UndoStatus::Failed { code, message });
        };
        let retry_at = self.now().saturating_add(pause);
        if let Some(active) = self.active_undo() {
            active.call.retry_at = Some(retry_at);
        }
        let redacted = self.redactor().redact_sentence(&failure.message);
        self.notify(task.step, task.item, StepChange::Retrying(pause, redacted));
    }

    /// Applies the timeout of a compensation, and retries it when its pause is over.
    pub(crate) fn apply_undo_timeouts(&mut self) {
        let now = self.now();
        let Some(ActiveUndo { place, call, deadline }) = self.active_undo().map(|active| active.clone())
        else {
            return;
        };
        let Some(done) = self.state.saga.done.get(place) else { return };
        let task = TaskId { undoes: true, ..TaskId::first(done.step, done.item).with_attempt(call.attempt) };
        if deadline <= now {
            if call.retry_at.is_none() {
                self.effects.push(RunEffect::Drop(task));
            }
            let message = "no answer within the time for compensations".to_owned();
            self.end_undo(place, UndoStatus::Failed { code: code::TIMED_OUT.to_owned(), message });
        } else if call.retry_at.is_some_and(|retry_at| retry_at <= now) {
            let Some(active) = self.active_undo() else { return };
            active.call.retry_at = None;
            active.call.attempt = active.call.attempt.saturating_add(1);
            let call = active.call.clone();
            let key = call.key.clone().unwrap_or_default();
            self.request(task.with_attempt(call.attempt), &call, key);
        }
    }

    fn active_undo(&mut self) -> Option<&mut ActiveUndo> {
        self.state.saga.ending.as_mut()?.active.as_mut()
    }

    /// Records what became of a call.
    fn end_undo(&mut self, place: usize, undo: UndoStatus) {
        if let Some(ending) = &mut self.state.saga.ending {
            ending.active = None;
        }
        let Some(done) = self.state.saga.done.get_mut(place) else { return };
        let (step, item) = (done.step, done.item);
        done.undo = undo.clone();
        let change = match undo {
            UndoStatus::Failed { message, .. } => {
                StepChange::UndoFailed(self.redactor().redact_sentence(&message))
            }
            _ => StepChange::Undone,
        };
        self.notify(step, item, change);
    }

    fn finish_undoing(&mut self) {
        if let Some(ending) = &self.state.saga.ending {
            let stop = ending.stop.clone();
            self.end_run(stop);
        }
    }

    /// Lets an ended saga go on: it undoes what could not be undone. Returns false if there is nothing like that.
    pub(crate) fn undo_again(&mut self) -> bool {
        let mut any = false;
        for done in &mut self.state.saga.done {
            // What could not be prepared cannot be called.
            if matches!(&done.undo, UndoStatus::Failed { code, .. } if code != TEMPLATE) {
                done.undo = UndoStatus::Remains;
                any = true;
            }
        }
        if let (true, Some(ending)) = (any, &mut self.state.saga.ending) {
            ending.deadline = None;
            self.state.is_over = false;
        }
        any
    }

    /// Forgets what was undone. Returns the steps that have to be made again.
    pub(crate) fn forget_undone(&mut self) -> Vec<usize> {
        let saga = &mut self.state.saga;
        saga.ending = None;
        saga.unknown.clear();
        let is_undone = |done: &DoneCall| matches!(done.undo, UndoStatus::Undone);
        let steps: Vec<usize> =
            saga.done.iter().filter(|done| is_undone(done)).map(|done| done.step).collect();
        if !steps.is_empty() {
            saga.done.retain(|done| !is_undone(done));
            saga.round += 1;
            self.state.keys.clear();
        }
        steps
    }
}
