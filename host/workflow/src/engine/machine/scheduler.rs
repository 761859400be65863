//! Which step runs when.
//!
//! A step begins as soon as the steps that it depends on have ended, in the definition's order, as long as fewer than
//! [`PARALLEL`] tasks are under way. Nothing here depends on which of them ends first.

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

/// Characters of what a template gave that an error shows. Cut when the secrets are out: half of one is still too much.
pub(crate) const SHOWN: usize = 100;

/// A run while something happens to it.
pub(crate) struct RunMachine<'a> {
    pub plan: &'a RunPlan,
    pub state: &'a mut RunState,
    pub effects: Vec<RunEffect>,
    /// Steps and items that began.
    begun: usize,
}

/// Steps and items that begin in one step of the machine. Each may take the time of several templates, and what ends as
/// soon as it has begun makes room for the next.
const BEGIN: usize = PARALLEL;

impl<'a> RunMachine<'a> {
    pub(crate) fn new(plan: &'a RunPlan, state: &'a mut RunState) -> Self {
        Self { plan, state, effects: Vec::new(), begun: 0 }
    }

    /// Whether the state belongs to the plan; a run of another definition ends.
    pub(crate) fn fits(&mut self) -> bool {
        let fits = self.state.phases.len() == self.plan.workflow.steps.len();
        if !fits {
            self.state.phases = self.plan.workflow.steps.iter().map(|_| StepPhase::Waiting).collect();
            let message = "the workflow has changed since this run of it began".to_owned();
            self.stop(RunStop { code: STEP_FAILED, message, ..RunStop::default() });
        }
        fits
    }

    /// Takes in what happened. What is not under way, or not any more, is of no interest.
    pub(crate) fn apply(&mut self, event: RunEvent) {
        match event {
            RunEvent::Due => {}
            RunEvent::Cancelled => self.stop(RunStop {
                code: code::CANCELLED,
                message: "the workflow was cancelled".to_owned(),
                ..RunStop::default()
            }),
            RunEvent::Replied(task, reply) => self.replied(task, reply),
            RunEvent::Failed(task, failure) if self.is_asking(task) => self.unasked(task.step, failure),
            RunEvent::Failed(task, failure) => self.failed(task, failure),
            RunEvent::Answered(task, answer) if self.is_asking(task) => self.answered(task.step, answer),
            RunEvent::Answered(..) => {}
        }
    }

    /// Ends what took too long, and tries again what has waited long enough.
    pub(crate) fn expire(&mut self) {
        if !self.state.over
            && self.state.clock.left.is_zero()
            && !self.state.phases.iter().all(StepPhase::has_ended)
        {
            let message = format!("workflow timed out after {:?}", self.plan.workflow.timeout);
            return self.stop(RunStop { code: code::TIMED_OUT, message, ..RunStop::default() });
        }
        for index in 0..self.state.phases.len() {
            if self.state.over {
                return;
            }
            let now = self.now();
            match &self.state.phases[index] {
                StepPhase::Asking { until } if *until <= now => self.unanswered(index),
                StepPhase::Calling { until, .. } if *until <= now => self.call_timed_out(index),
                StepPhase::Calling { call, .. } if call.again.is_some_and(|again| again <= now) => {
                    self.call_again(index);
                }
                StepPhase::Each(each) if each.until <= now => self.each_timed_out(index),
                StepPhase::Each(_) => self.items_again(index),
                _ => {}
            }
        }
    }

    /// Begins what can begin, and ends the run where nothing is left.
    pub(crate) fn advance(&mut self) {
        self.state.more = false;
        let mut moved = self.has_room();
        while moved {
            moved = false;
            for index in 0..self.state.phases.len() {
                if self.has_begun_enough() {
                    self.state.more = true;
                    return;
                }
                let began = match self.state.phases[index] {
                    StepPhase::Waiting if self.is_ready(index) => {
                        self.begun += 1;
                        self.begin(index);
                        true
                    }
                    StepPhase::Each(_) => self.begin_items(index),
                    _ => false,
                };
                if self.state.over {
                    return;
                }
                // Room is looked for where it may have been taken, not at each step: that would be most of a step's cost.
                if began && !self.has_room() {
                    moved = false;
                    break;
                }
                moved |= began;
            }
        }
        if self.state.phases.iter().all(StepPhase::has_ended) {
            self.complete();
        } else if self.state.under_way() == 0 {
            // The definition's check refuses it; a run that waits for ever would be worse than this sentence.
            let message = "circular dependency: the steps that are left wait for each other".to_owned();
            self.stop(RunStop { code: STEP_FAILED, message, ..RunStop::default() });
        }
    }

    /// Whether the rest must wait, so that whoever drives the run gets to do something else.
    pub(crate) fn has_begun_enough(&self) -> bool {
        self.begun >= BEGIN
    }

    /// Counts an item.
    pub(crate) fn count_begun(&mut self) {
        self.begun += 1;
    }

    fn is_ready(&self, index: usize) -> bool {
        let ended = |of: &usize| self.state.phases.get(*of).is_none_or(StepPhase::has_ended);
        self.definition(index).depends_on.iter().all(ended)
    }

    pub(crate) fn has_room(&self) -> bool {
        self.state.under_way() < PARALLEL
    }

    fn begin(&mut self, index: usize) {
        let step = self.definition(index);
        let show = |text: &str| self.redaction().cut(text, SHOWN);
        match condition::holds(step, &self.state.context.scope(None), self.strict(), show) {
            Err(wrong) => self.fail(index, wrong),
            Ok(false) => self.skip(index),
            Ok(true) => match &step.kind {
                StepKind::Tool(call) => self.begin_call(index, call),
                StepKind::Ask(ask) => self.begin_ask(index, ask),
                StepKind::ForEach(each) => self.begin_each(index, each),
            },
        }
    }

    fn begin_call(&mut self, index: usize, call: &ToolCall) {
        let step = self.definition(index);
        let target = match self.target(index, call) {
            Ok(target) => target,
            Err(wrong) => return self.fail(index, wrong),
        };
        let scope = self.state.context.scope(None);
        match arguments::parameters(&step.id, call, target, &scope, self.strict()) {
            Err(wrong) => self.fail(index, wrong),
            Ok(params) => {
                self.enter(
                    index,
                    StepPhase::Calling { call: CallState::new(params.clone()), until: self.until(step) },
                );
                self.tell(index, None, What::Started);
                self.call(TaskId { step: index, item: None, attempt: 0 }, target, params);
            }
        }
    }

    /// Asks for one try of a call.
    pub(crate) fn call(&mut self, task: TaskId, target: &CallTarget, params: Object) {
        let step = &self.definition(task.step).id;
        let step = key_part(step);
        let idempotency_key = match task.item {
            None => format!("{}/{step}", self.state.id),
            Some(item) => format!("{}/{step}#{item}", self.state.id),
        };
        let (facade, action) = (target.facade.clone(), target.action.clone());
        self.effects.push(RunEffect::Call { task, facade, action, params, idempotency_key });
    }

    /// What a step calls.
    pub(crate) fn target(&self, index: usize, call: &ToolCall) -> Result<&'a CallTarget, StepError> {
        self.plan.targets.get(index).and_then(Option::as_ref).ok_or_else(|| {
            let id = &self.definition(index).id;
            StepError::new(format!(
                "failed to route tool {} in step {id}: there is no such action",
                call.tool
            ))
        })
    }

    /// Lets a step begin.
    pub(crate) fn enter(&mut self, index: usize, phase: StepPhase) {
        self.tell_context(index, context::running());
        self.state.phases[index] = phase;
    }

    /// A step worked.
    pub(crate) fn done(&mut self, index: usize, entry: Object) {
        self.end(index, StepEnd::Completed, entry, What::Completed);
    }

    pub(crate) fn skip(&mut self, index: usize) {
        let entry = context::skipped(self.definition(index).default_results.clone());
        self.end(index, StepEnd::Skipped, entry, What::Skipped);
    }

    /// A step failed: the run goes on without it, or ends.
    pub(crate) fn fail(&mut self, index: usize, wrong: StepError) {
        self.fail_with(index, wrong, None);
    }

    /// The same, of a step that has an output nevertheless; its default is preferred.
    pub(crate) fn fail_with(&mut self, index: usize, wrong: StepError, output: Option<serde_json::Value>) {
        let step = self.definition(index);
        self.drop_tasks(index);
        self.close(index);
        let shown = self.redaction().text(&wrong.message);
        if self.goes_on(step) {
            let entry = context::failed(&wrong.message, step.default_results.clone().or(output));
            self.end(index, StepEnd::Failed, entry, What::Failed(shown));
        } else {
            self.tell(index, None, What::Failed(shown));
            self.stop(RunStop {
                code: wrong.code,
                step: Some(index),
                message: wrong.message,
                cause: wrong.cause,
                inputs: wrong.inputs,
            });
        }
    }

    /// Nothing of a step is under way any more.
    pub(crate) fn close(&mut self, index: usize) {
        self.state.phases[index] = StepPhase::Ended(StepEnd::Failed);
    }

    fn end(&mut self, index: usize, end: StepEnd, entry: Object, what: What) {
        self.tell_context(index, entry);
        self.state.phases[index] = StepPhase::Ended(end);
        self.tell(index, None, what);
    }

    fn tell_context(&mut self, index: usize, entry: Object) {
        // Which steps are known follows from their phases.
        let known = |phase: &&StepPhase| !matches!(phase, StepPhase::Waiting);
        let place = self.state.phases[..index].iter().filter(known).count();
        self.state.context.tell(&self.definition(index).id, place, entry);
    }

    pub(crate) fn tell(&mut self, step: usize, item: Option<usize>, what: What) {
        let ended = self.state.phases.iter().filter(|phase| phase.has_ended()).count();
        self.effects.push(RunEffect::Tell(News { step, item, what, ended }));
    }

    /// Ends the run with its result.
    fn complete(&mut self) {
        let milliseconds = u64::try_from(self.now().as_millis()).unwrap_or(u64::MAX);
        self.state.context.complete(self.state.phases.len(), milliseconds);
        match output::result(&self.plan.workflow, &self.state.phases, &self.state.context) {
            Ok(value) => {
                self.state.over = true;
                self.effects.push(RunEffect::Done(Box::new(RunOutcome::Completed(value))));
            }
            Err(wrong) => self.stop(RunStop {
                code: wrong.code,
                message: wrong.message,
                cause: wrong.cause,
                ..RunStop::default()
            }),
        }
    }

    /// Ends the run with a report, and drops what is under way.
    pub(crate) fn stop(&mut self, cut: RunStop) {
        for index in 0..self.state.phases.len() {
            self.drop_tasks(index);
        }
        let report = report::report(self.plan, self.state, cut);
        self.state.over = true;
        self.effects.push(RunEffect::Done(Box::new(RunOutcome::Failed(Box::new(report)))));
    }

    /// Drops what is under way of a step.
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

    /// Whether the run goes on after a failure of this step.
    pub(crate) fn goes_on(&self, step: &WorkflowStep) -> bool {
        self.plan.workflow.continues || step.on_error == OnError::Continue
    }

    pub(crate) fn definition(&self, index: usize) -> &'a WorkflowStep {
        &self.plan.workflow.steps[index]
    }

    pub(crate) fn strict(&self) -> bool {
        self.plan.workflow.strict
    }

    pub(crate) fn now(&self) -> Duration {
        self.state.clock.now
    }

    pub(crate) fn until(&self, step: &WorkflowStep) -> Duration {
        self.now().saturating_add(step.timeout)
    }

    /// What may be shown of texts that this run makes.
    pub(crate) fn redaction(&self) -> Arc<SecretRedactor> {
        report::redaction(self.plan, self.state)
    }
}

/// A step's id as a part of a key in which `/` and `#` divide: a workflow that a step calls makes keys of its own from this
/// one, and no two calls may share one.
fn key_part(id: &str) -> String {
    id.replace('%', "%25").replace('/', "%2F").replace('#', "%23")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_steps_make_the_same_part_of_a_key() {
        let ids = ["a", "a/b", "a%2Fb", "a#0", "a-b", "a%230"];
        let parts: std::collections::HashSet<String> = ids.iter().map(|id| key_part(id)).collect();
        assert_eq!(parts.len(), ids.len());
        assert!(parts.iter().all(|part| !part.contains(['/', '#'])), "{parts:?}");
    }
}
