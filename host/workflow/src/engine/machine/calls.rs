//! Transitions of calls: replies, failures, retries.

use std::time::Duration;

use loggia_facade::{Failure, Object, code};

use super::{retry, run_machine::RunMachine};
use crate::{
    definition::{OnError, StepKind, ToolCall},
    engine::{
        failure::{self, INTERRUPTED, SecretRedactor, StepError},
        model::{StepChange, TaskId},
        state::{StepCallState, StepPhase},
        values::size_budget,
    },
};

impl RunMachine<'_> {
    /// Handles a reply.
    pub(crate) fn on_reply(&mut self, task: TaskId, entry: Object) {
        if self.find_attempt(task).is_none() {
            return;
        }
        let held_bytes = self.state.held_bytes.saturating_add(size_budget::members_size(&entry));
        if held_bytes > size_budget::REPLIES {
            let message =
                format!("the replies of this run exceed {} MiB in total", size_budget::REPLIES >> 20);
            return self.fail_call(
                task,
                Failure::new(code::UNAVAILABLE, message).hint("request less data per call"),
            );
        }
        self.state.held_bytes = held_bytes;
        let key = self.find_attempt(task).and_then(|(call, _)| call.key.clone());
        match task.item {
            None => {
                self.complete_step(task.step, entry);
                self.note_done(task, key.as_deref(), None);
            }
            Some(item) => {
                let output = entry.get("output").filter(|_| self.plan.workflow.saga.is_some()).cloned();
                let seen = output.map(|output| self.item_scope(task.step, item, Some(output)));
                self.complete_item(task.step, item, entry);
                self.note_done(task, key.as_deref(), seen.as_ref());
            }
        }
    }

    /// Handles a failure: schedules a retry or gives up.
    pub(crate) fn on_failure(&mut self, task: TaskId, failure: Failure) {
        let Some(deadline) = self.find_attempt(task).map(|(_, deadline)| deadline) else { return };
        let failure = self.redact_failure(task, failure);
        match self.backoff(task, &failure, deadline) {
            None => self.fail_call(task, failure),
            Some(pause) => {
                let retry_at = self.now().saturating_add(pause);
                if let Some(call) = self.find_call_mut(task) {
                    call.retry_at = Some(retry_at);
                }
                let redacted = self.redactor().redact_sentence(&failure.message);
                self.notify(task.step, task.item, StepChange::Retrying(pause, redacted));
            }
        }
    }

    /// Handles an interruption: the effect of the call is unknown, so it is not retried.
    pub(crate) fn on_interruption(&mut self, task: TaskId) {
        let message = "the host stopped during the call, so it is unknown whether it took effect";
        let failure = Failure::new(INTERRUPTED, message).hint("check its effect before calling again");
        if task.undoes {
            self.on_undo_failure(task, failure);
        } else if self.find_attempt(task).is_some() {
            self.fail_call(task, failure);
        }
    }

    /// Redacts what the action's own schema marks as secret. The value may come from another step, so that the
    /// workflow's caller does not know it.
    fn redact_failure(&self, task: TaskId, failure: Failure) -> Failure {
        let Some((call, _)) = self.find_attempt(task) else { return failure };
        self.redact_for_call(task, &call.params, failure)
    }

    /// Redacts what the schema of a call's action marks as secret among these parameters.
    pub(crate) fn redact_for_call(&self, task: TaskId, params: &Object, failure: Failure) -> Failure {
        let Some(target) = self.plan.target(task) else { return failure };
        let secrets = SecretRedactor::from_call(&target.params, params);
        let (message, hint) = (secrets.redact(&failure.message), failure.hint.as_deref());
        Failure { message, hint: hint.map(|hint| secrets.redact(hint)), ..failure }
    }

    /// Returns the pause before the next attempt, or `None` for no further attempt.
    fn backoff(&self, task: TaskId, failure: &Failure, deadline: Duration) -> Option<Duration> {
        let step = self.definition(task.step);
        let on_error = match (&step.kind, task.item) {
            (StepKind::ForEach(each), Some(_)) => &each.on_error,
            _ => &step.on_error,
        };
        // A saga that stops waits for its calls, and makes none again.
        if self.is_undoing() {
            return None;
        }
        self.pause(on_error, task, failure, deadline)
    }

    /// Returns the pause before the next attempt by this policy, if there is one and it begins before the deadline.
    pub(crate) fn pause(
        &self,
        on_error: &OnError,
        task: TaskId,
        failure: &Failure,
        deadline: Duration,
    ) -> Option<Duration> {
        let OnError::Retry { count, delay, on, .. } = on_error else { return None };
        let is_listed = on.is_empty() || on.contains(&failure.code);
        if task.attempt >= *count || !is_listed || !retry::is_retryable(failure) {
            return None;
        }
        let pause = retry::backoff(self.state.seed, task, *delay, failure.retry_after_ms);
        // A retry after the deadline is useless.
        (self.now().saturating_add(pause) < deadline).then_some(pause)
    }

    fn fail_call(&mut self, task: TaskId, failure: Failure) {
        if failure::is_uncertain(&failure) {
            self.note_unknown(task.step, task.item);
        }
        let step = self.definition(task.step);
        let inputs =
            self.find_call_mut(task).map(|call| std::mem::take(&mut call.params)).unwrap_or_default();
        let error = StepError::from_call(&step.id, self.tool_name(task.step), failure, inputs);
        match task.item {
            None => {
                // The call has ended by itself, so there is nothing to drop.
                self.close_step(task.step);
                self.fail_step(task.step, error);
            }
            Some(item) => self.fail_item(task.step, item, error),
        }
    }

    /// Retries a call whose pause is over.
    pub(crate) fn retry_call(&mut self, step: usize) {
        let StepPhase::Calling { call, .. } = &mut self.state.phases[step] else { return };
        call.retry_at = None;
        call.attempt = call.attempt.saturating_add(1);
        let call = call.clone();
        self.request_call(TaskId::first(step, None).with_attempt(call.attempt), &call);
    }

    /// Handles the timeout of a call, including its retries.
    pub(crate) fn on_call_timeout(&mut self, index: usize) {
        let StepPhase::Calling { call, .. } = &mut self.state.phases[index] else { return };
        let (inputs, is_open) = (std::mem::take(&mut call.params), call.retry_at.is_none());
        if is_open {
            self.note_unknown(index, None);
        }
        let step = self.definition(index);
        self.fail_step(index, StepError::timeout(&step.id, step.timeout, Some(inputs)));
    }

    /// Returns the active attempt of a task, and its step's deadline.
    fn find_attempt(&self, task: TaskId) -> Option<(&StepCallState, Duration)> {
        let (call, deadline) = match (self.state.phases.get(task.step)?, task.item) {
            (StepPhase::Calling { call, deadline }, None) => (call, *deadline),
            (StepPhase::Each(each), Some(item)) => {
                (each.calls.iter().find(|(place, _)| *place == item).map(|(_, call)| call)?, each.deadline)
            }
            _ => return None,
        };
        call.is_attempting(task.attempt).then_some((call, deadline))
    }

    fn find_call_mut(&mut self, task: TaskId) -> Option<&mut StepCallState> {
        match (self.state.phases.get_mut(task.step)?, task.item) {
            (StepPhase::Calling { call, .. }, None) => Some(call),
            (StepPhase::Each(each), Some(item)) => {
                each.calls.iter_mut().find(|(place, _)| *place == item).map(|(_, call)| call)
            }
            _ => None,
        }
    }

    /// Returns the tool's name as written in the file.
    fn tool_name(&self, index: usize) -> &str {
        match &self.plan.workflow.steps[index].kind {
            StepKind::Tool(ToolCall { tool, .. }) => tool,
            StepKind::ForEach(each) => &each.call.tool,
            StepKind::Ask(_) => "",
        }
    }
}
