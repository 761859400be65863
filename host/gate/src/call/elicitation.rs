//! Questions to a person: which calls may ask, and how a call is parked while it waits.

use loggia_policy::model::limit_names::QUESTIONS;
use std::{sync::atomic::Ordering, time::Duration};

use loggia_facade::{Answer, Failure, Question};
use loggia_schema::{QuestionForm, sanitise_line};
use loggia_text::units;

use super::{audit, frame::CallFrame};
use crate::{
    failures::{denied, invalid_params, timed_out, unavailable},
    run::CallState,
};

/// Time that a question stays open.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// Longest time that a question may set for itself.
const MAX_QUESTION_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// Length of a question's text, in bytes.
const MAX_QUESTION_BYTES: usize = 2000;

impl CallFrame {
    /// Asks a question of the facade's own, if the policy allows it.
    pub(super) async fn ask_for_facade(&self, question: Question) -> Result<Answer, Failure> {
        self.check_may_elicit()?;
        // Counted before it is known to be valid: a facade that asks in a loop costs something each time.
        for frame in self.frames() {
            frame.questions_asked.fetch_add(1, Ordering::Relaxed);
        }
        let answer = self.ask_person(question).await;
        audit::record_answer(self, "question", &answer);
        answer
    }

    /// Checks that the policy allows questions, the client can show them, and no frame has used up its number.
    pub(super) fn check_may_elicit(&self) -> Result<(), Failure> {
        if !self.entry.rules.elicit {
            let failure = denied(format_args!("the policy does not let `{}` ask the person", self.name()));
            return Err(failure.hint("the operator can set `grants.elicit = true`"));
        }
        self.check_can_ask()?;
        let spent =
            |frame: &&Self| frame.questions_asked.load(Ordering::Relaxed) >= frame.entry.rules.questions;
        if let Some(frame) = self.frames().find(spent) {
            let most = frame.entry.rules.questions;
            let failure =
                denied(format_args!("a call of `{}` may ask {most} questions at most", frame.name()));
            return Err(failure.hint(format!("the operator can raise `{QUESTIONS}` in its policy")));
        }
        Ok(())
    }

    /// Checks that the client can ask a person.
    fn check_can_ask(&self) -> Result<(), Failure> {
        if self.state.can_ask {
            return Ok(());
        }
        let hint = "ask the person and pass the answer as a parameter, if there is one for it; \
                    otherwise use a client with elicitation";
        Err(unavailable("this client cannot ask the person").hint(hint))
    }

    /// Asks the person in the facade's name. The call is parked until the answer: all frames release their permits, and
    /// the wall clock stops.
    pub(super) async fn ask_person(&self, question: Question) -> Result<Answer, Failure> {
        self.check_can_ask()?;
        let form = QuestionForm::new(&question.schema)
            .map_err(|reason| invalid_params(format!("the question's form cannot be shown: {reason}")))?;
        let _parked = self.gate.parked.park(&self.state)?;
        for frame in self.frames() {
            drop(frame.permit.lock().await.take());
        }
        // On one line and without control characters, so that it cannot pass for another facade's or the host's text.
        let message = format!("[{}] {}", self.name(), sanitise_line(&question.message, MAX_QUESTION_BYTES));
        let patience = question.timeout.map_or(QUESTION_TIMEOUT, |asked| asked.min(MAX_QUESTION_TIMEOUT));
        // Prepared answers are for the facade that the client called, not for those that it invokes.
        let name = question.name.filter(|_| self.name() == self.state.facade);
        let schema = form.schema().clone();
        let (key, answer) =
            self.state.open_question(Question { message, schema, name, timeout: question.timeout });
        // Withdraws the question however the wait ends.
        let _open = OpenQuestion { state: &self.state, key };
        let answer = tokio::time::timeout(patience, answer).await.map_err(|_| {
            timed_out("the question was not answered in time")
                .hint(format!("it stayed open for {}", units::format_duration(patience)))
        });
        // Catalog and policies may have changed: from the outermost call inwards, each is checked and permitted again.
        let mut frames: Vec<&Self> = self.frames().collect();
        while let Some(frame) = frames.pop() {
            if let Err(failure) = frame.resume().await {
                let _ = frame.stop_reason.set(failure);
                // `answer.rs` ends the call with the reason as soon as it sees this future pending.
                std::future::pending::<()>().await;
            }
        }
        match answer?.unwrap_or(Answer::Cancelled) {
            Answer::Accepted(value) => match form.check(&value) {
                Ok(()) => Ok(Answer::Accepted(value)),
                Err(reason) => {
                    let message = format!("the answer does not fit the question: {reason}");
                    Err(invalid_params(message).hint("ask again"))
                }
            },
            other => Ok(other),
        }
    }

    /// Returns true if the client can ask a person.
    pub(super) fn can_ask(&self) -> bool {
        self.state.can_ask
    }
}

/// Keeps a question open; dropping it withdraws the question.
struct OpenQuestion<'a> {
    state: &'a CallState,
    key: String,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.state.withdraw_question(&self.key);
    }
}
