//! Transitions of questions.
//!
//! The answer is available where ToolHive's documentation puts it (`.steps.<id>.action` and `.content`) and where its
//! code puts it (`.steps.<id>.output.action` and `.output.content`).

use loggia_facade::{Answer, Failure, Object, code};
use serde_json::{Value, json};

use super::run_machine::RunMachine;
use crate::{
    definition::{QuestionStep, RefusalAction, StepKind},
    engine::{
        data::arguments,
        failure::StepError,
        model::{RunEffect, StepChange, TaskId},
        state::{StepPhase, context},
    },
};

/// Outcome of a question without a positive answer.
#[derive(Clone, Copy)]
enum Refusal {
    Declined,
    Cancelled,
    TimedOut,
}

impl RunMachine<'_> {
    pub(crate) fn begin_question(&mut self, index: usize, ask: &QuestionStep) {
        let step = self.definition(index);
        match ask.message.expand(&self.state.context.scope(None), self.is_strict()) {
            Err(error) => {
                let what = format!("failed to expand elicitation message for step {}", step.id);
                self.fail_step(index, StepError::from_template(&what, error));
            }
            Ok(message) => {
                self.enter_phase(index, StepPhase::Asking { deadline: self.deadline(step) });
                self.notify(index, None, StepChange::Asking);
                self.effects.push(RunEffect::Ask {
                    task: TaskId::first(index, None),
                    message: message.text,
                    schema: ask.schema.clone(),
                    timeout: step.timeout,
                });
            }
        }
    }

    /// Returns true for an open question.
    pub(crate) fn is_asking(&self, task: TaskId) -> bool {
        matches!(self.state.phases.get(task.step), Some(StepPhase::Asking { .. }))
            && task.item.is_none()
            && task.attempt == 0
    }

    /// Handles an answer.
    pub(crate) fn on_answer(&mut self, index: usize, answer: Answer) {
        match answer {
            Answer::Declined => self.apply_refusal(index, Refusal::Declined),
            Answer::Cancelled => self.apply_refusal(index, Refusal::Cancelled),
            Answer::Accepted(form) => {
                // An answer that is not an object means yes and nothing more.
                let form = if form.is_object() && !arguments::is_too_deep(&form) { form } else { json!({}) };
                let output = json!({"action": "accept", "content": form.clone()});
                // The answer may contain another secret.
                self.state.secrets.take();
                self.complete_step(index, to_entry("accept", output, form));
            }
        }
    }

    /// Handles the timeout of a question.
    pub(crate) fn on_question_timeout(&mut self, index: usize) {
        self.drop_tasks(index);
        self.apply_refusal(index, Refusal::TimedOut);
    }

    /// Handles a question that could not be asked, or whose answer could not be delivered.
    pub(crate) fn on_question_failure(&mut self, index: usize, failure: Failure) {
        // The session's own clock may fire a moment earlier than ours: treat both as our timeout.
        if failure.code == code::TIMED_OUT {
            return self.apply_refusal(index, Refusal::TimedOut);
        }
        self.close_step(index);
        let id = &self.definition(index).id;
        let what = match failure.code.as_str() {
            code::UNAVAILABLE | code::DENIED => "elicitation handler not configured for step",
            _ => "elicitation request failed: step",
        };
        let message = format!("{what} {id}: {}", failure.message);
        self.fail_step(index, StepError { cause: Some(failure), ..StepError::new(message) });
    }

    fn apply_refusal(&mut self, index: usize, no: Refusal) {
        self.close_step(index);
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
                self.fail_step(index, StepError { code, ..StepError::new(message) });
                // The person's action is known even if the step fails.
                self.state.context.amend_step(&step.id, "action", action.into());
            }
            RefusalAction::Continue => {
                self.complete_step(index, to_entry(action, json!({"action": action}), json!({})))
            }
            RefusalAction::SkipRemaining => {
                self.complete_step(
                    index,
                    to_entry(action, json!({"action": action, "skipped": true}), json!({})),
                );
                for other in 0..self.state.phases.len() {
                    if matches!(self.state.phases[other], StepPhase::Waiting) {
                        self.skip_step(other);
                    }
                }
            }
        }
    }
}

/// Creates the entry of a question.
fn to_entry(action: &str, output: Value, content: Value) -> Object {
    let mut entry = context::completed_entry(output, content);
    entry.insert("action".to_owned(), action.into());
    entry
}
