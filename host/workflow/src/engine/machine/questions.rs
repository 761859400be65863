//! Questions to the person.
//!
//! The answer stands where ToolHive's documentation says (`.steps.<id>.action` and `.content`) and where its code says
//! (`.steps.<id>.output.action` and `.output.content`).

use loggia_facade::{Answer, Failure, Object, code};
use serde_json::{Value, json};

use super::scheduler::RunMachine;
use crate::{
    definition::{QuestionStep, RefusalAction, StepKind},
    engine::{
        data::arguments,
        failure::StepError,
        model::{RunEffect, TaskId, What},
        state::{StepPhase, context},
    },
};

/// How a question ended that was not answered by yes.
#[derive(Clone, Copy)]
enum Refusal {
    Declined,
    Cancelled,
    TimedOut,
}

impl RunMachine<'_> {
    pub(crate) fn begin_ask(&mut self, index: usize, ask: &QuestionStep) {
        let step = self.definition(index);
        match ask.message.expand(&self.state.context.scope(None), self.strict()) {
            Err(error) => {
                let what = format!("failed to expand elicitation message for step {}", step.id);
                self.fail(index, StepError::template(&what, error));
            }
            Ok(message) => {
                self.enter(index, StepPhase::Asking { until: self.until(step) });
                self.tell(index, None, What::Asking);
                self.effects.push(RunEffect::Ask {
                    task: TaskId { step: index, item: None, attempt: 0 },
                    message: message.text,
                    schema: ask.schema.clone(),
                    timeout: step.timeout,
                });
            }
        }
    }

    /// Whether this is a question that is open.
    pub(crate) fn is_asking(&self, task: TaskId) -> bool {
        matches!(self.state.phases.get(task.step), Some(StepPhase::Asking { .. }))
            && task.item.is_none()
            && task.attempt == 0
    }

    /// A person answered.
    pub(crate) fn answered(&mut self, index: usize, answer: Answer) {
        match answer {
            Answer::Declined => self.refused(index, Refusal::Declined),
            Answer::Cancelled => self.refused(index, Refusal::Cancelled),
            Answer::Accepted(form) => {
                // What is no form says no more than yes.
                let form = if form.is_object() && !arguments::too_deep(&form) { form } else { json!({}) };
                let output = json!({"action": "accept", "content": form.clone()});
                // There may be another secret.
                self.state.secrets.take();
                self.done(index, entry("accept", output, form));
            }
        }
    }

    /// Nobody answered in time.
    pub(crate) fn unanswered(&mut self, index: usize) {
        self.drop_tasks(index);
        self.refused(index, Refusal::TimedOut);
    }

    /// The question could not be put, or its answer could not be taken.
    pub(crate) fn unasked(&mut self, index: usize, failure: Failure) {
        // Who asks has a clock too, which may be a moment earlier: that is no other end than ours.
        if failure.code == code::TIMED_OUT {
            return self.refused(index, Refusal::TimedOut);
        }
        self.close(index);
        let id = &self.definition(index).id;
        let what = match failure.code.as_str() {
            code::UNAVAILABLE | code::DENIED => "elicitation handler not configured for step",
            _ => "elicitation request failed: step",
        };
        let message = format!("{what} {id}: {}", failure.message);
        self.fail(index, StepError { cause: Some(failure), ..StepError::new(message) });
    }

    fn refused(&mut self, index: usize, no: Refusal) {
        self.close(index);
        let step = self.definition(index);
        let StepKind::Ask(ask) = &step.kind else { return };
        let (action, otherwise) = match no {
            Refusal::Declined => ("decline", ask.on_decline),
            Refusal::Cancelled => ("cancel", ask.on_cancel),
            Refusal::TimedOut => ("timeout", ask.on_cancel),
        };
        match otherwise {
            RefusalAction::Abort => {
                let (code, what) = match no {
                    Refusal::Declined => (code::CANCELLED, "was declined by user"),
                    Refusal::Cancelled => (code::CANCELLED, "was cancelled by user"),
                    Refusal::TimedOut => (code::TIMED_OUT, "timed out"),
                };
                let message = format!("elicitation request {what}: step {}", step.id);
                self.fail(index, StepError { code, ..StepError::new(message) });
                // What the person did is known, even where the step has failed.
                self.state.context.add(&step.id, "action", action.into());
            }
            RefusalAction::Continue => self.done(index, entry(action, json!({"action": action}), json!({}))),
            RefusalAction::SkipRemaining => {
                self.done(index, entry(action, json!({"action": action, "skipped": true}), json!({})));
                for other in 0..self.state.phases.len() {
                    if matches!(self.state.phases[other], StepPhase::Waiting) {
                        self.skip(other);
                    }
                }
            }
        }
    }
}

/// A question's entry.
fn entry(action: &str, output: Value, content: Value) -> Object {
    let mut entry = context::completed(output, content);
    entry.insert("action".to_owned(), action.into());
    entry
}
