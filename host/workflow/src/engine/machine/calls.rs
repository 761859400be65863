//! What comes of a call: a reply, a failure, another try.

use std::time::Duration;

use loggia_facade::{Failure, Object, Reply, code};

use super::{retry, scheduler::RunMachine};
use crate::{
    definition::{OnError, StepKind, ToolCall},
    engine::{
        data::{arguments, reply},
        failure::{SecretRedactor, StepError},
        model::{TaskId, What},
        state::{CallState, StepPhase},
        values::size_budget,
    },
};

impl RunMachine<'_> {
    /// A call worked.
    pub(crate) fn replied(&mut self, task: TaskId, reply: Reply) {
        if self.call_of(task).is_none() {
            return;
        }
        // A run that is written down must be readable again.
        if arguments::too_deep(&reply.data) {
            let failure = Failure::new(code::INTERNAL, "the reply nests too deep");
            return self.gave_up(task, failure);
        }
        let entry = reply::entry(reply);
        let held = self.state.held.saturating_add(size_budget::weight_of(&entry));
        if held > size_budget::REPLIES {
            let said = format!(
                "the replies of this run are larger than {} MiB together",
                size_budget::REPLIES >> 20
            );
            return self.gave_up(task, Failure::new(code::UNAVAILABLE, said).hint("ask for less in each"));
        }
        self.state.held = held;
        match task.item {
            None => self.done(task.step, entry),
            Some(item) => self.item_done(task.step, item, entry),
        }
    }

    /// A call failed: it is tried again, or that was it.
    pub(crate) fn failed(&mut self, task: TaskId, failure: Failure) {
        let Some(until) = self.call_of(task).map(|(_, until)| until) else { return };
        let failure = self.without_secrets(task, failure);
        match self.pause(task, &failure, until) {
            None => self.gave_up(task, failure),
            Some(pause) => {
                let again = self.now().saturating_add(pause);
                if let Some(call) = self.call_mut(task) {
                    call.again = Some(again);
                }
                let shown = self.redaction().text(&failure.message);
                self.tell(task.step, task.item, What::Retrying(pause, shown));
            }
        }
    }

    /// A call's failure without what the action's own schema calls secret: a step may have it from another step, and then
    /// the workflow's caller does not know it.
    fn without_secrets(&self, task: TaskId, failure: Failure) -> Failure {
        let target = self.plan.targets.get(task.step).and_then(Option::as_ref);
        let Some((target, (call, _))) = target.zip(self.call_of(task)) else { return failure };
        let secrets = SecretRedactor::of_inputs(&target.params, &call.params);
        let (message, hint) = (secrets.clean(&failure.message), failure.hint.as_deref());
        Failure { message, hint: hint.map(|hint| secrets.clean(hint)), ..failure }
    }

    /// How long to wait before the next try; none where there is none.
    fn pause(&self, task: TaskId, failure: &Failure, until: Duration) -> Option<Duration> {
        let step = self.definition(task.step);
        let on_error = match (&step.kind, task.item) {
            (StepKind::ForEach(each), Some(_)) => each.on_error,
            _ => step.on_error,
        };
        let OnError::Retry { count, delay } = on_error else { return None };
        if task.attempt >= count || !retry::can_help(failure) {
            return None;
        }
        let pause = retry::pause(self.state.seed, task, delay, failure.retry_after_ms);
        // Who would wake up too late need not sleep.
        (self.now().saturating_add(pause) < until).then_some(pause)
    }

    fn gave_up(&mut self, task: TaskId, failure: Failure) {
        let step = self.definition(task.step);
        let inputs = self.call_mut(task).map(|call| std::mem::take(&mut call.params)).unwrap_or_default();
        let wrong = StepError::call(&step.id, self.tool(task.step), failure, inputs);
        match task.item {
            None => {
                // It has ended by itself, and need not be dropped.
                self.close(task.step);
                self.fail(task.step, wrong);
            }
            Some(item) => self.item_failed(task.step, item, wrong),
        }
    }

    /// Tries a call again whose pause is over.
    pub(crate) fn call_again(&mut self, step: usize) {
        let StepPhase::Calling { call, .. } = &mut self.state.phases[step] else { return };
        call.again = None;
        call.attempt = call.attempt.saturating_add(1);
        let (params, task) = (call.params.clone(), TaskId { step, item: None, attempt: call.attempt });
        self.again(task, params);
    }

    /// Asks for the next try.
    pub(crate) fn again(&mut self, task: TaskId, params: Object) {
        if let Some(target) = self.plan.targets.get(task.step).and_then(Option::as_ref) {
            self.call(task, target, params);
        }
    }

    /// A call, with all its tries, took too long.
    pub(crate) fn call_timed_out(&mut self, index: usize) {
        let StepPhase::Calling { call, .. } = &mut self.state.phases[index] else { return };
        let inputs = std::mem::take(&mut call.params);
        let step = self.definition(index);
        self.fail(index, StepError::timed_out(&step.id, step.timeout, Some(inputs)));
    }

    /// A try that is under way, and when its step's time is up.
    fn call_of(&self, task: TaskId) -> Option<(&CallState, Duration)> {
        let (call, until) = match (self.state.phases.get(task.step)?, task.item) {
            (StepPhase::Calling { call, until }, None) => (call, *until),
            (StepPhase::Each(each), Some(item)) => {
                (each.calls.iter().find(|(place, _)| *place == item).map(|(_, call)| call)?, each.until)
            }
            _ => return None,
        };
        call.is_trying(task.attempt).then_some((call, until))
    }

    fn call_mut(&mut self, task: TaskId) -> Option<&mut CallState> {
        match (self.state.phases.get_mut(task.step)?, task.item) {
            (StepPhase::Calling { call, .. }, None) => Some(call),
            (StepPhase::Each(each), Some(item)) => {
                each.calls.iter_mut().find(|(place, _)| *place == item).map(|(_, call)| call)
            }
            _ => None,
        }
    }

    /// The tool as the definition names it.
    fn tool(&self, index: usize) -> &str {
        match &self.plan.workflow.steps[index].kind {
            StepKind::Tool(ToolCall { tool, .. }) => tool,
            StepKind::ForEach(each) => &each.call.tool,
            StepKind::Ask(_) => "",
        }
    }
}
