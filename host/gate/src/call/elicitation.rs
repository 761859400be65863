//! A call that asks the person: whether it may, and what becomes of it meanwhile.

use std::{sync::atomic::Ordering, time::Duration};

use loggia_facade::{Answer, Failure, Question, code};
use loggia_schema::{Questionnaire, sanitise_line};
use loggia_text::units;

use super::{audit, frame::CallFrame};
use crate::run::CallState;

/// How long a parked call waits for its person.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// The same for a question that asks for longer.
const MAX_QUESTION_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// Bytes of a question that are shown.
const MAX_QUESTION_BYTES: usize = 2000;

impl CallFrame {
    /// A question of the facade's own, where the policy lets it ask.
    pub(super) async fn ask_for_facade(&self, question: Question) -> Result<Answer, Failure> {
        self.check_may_elicit()?;
        // Whether it can be shown or not: who asks again and again costs something each time.
        for frame in self.frames() {
            frame.questions_asked.fetch_add(1, Ordering::Relaxed);
        }
        let answer = self.ask_person(question).await;
        audit::record_answer(self, "question", &answer);
        answer
    }

    /// Whether the facade may ask, there is somebody to be asked, and it has not asked too often.
    pub(super) fn check_may_elicit(&self) -> Result<(), Failure> {
        if !self.entry.rules.elicit {
            let message = format!("access denied: the policy does not let `{}` ask the person", self.name());
            let hint = "the operator can set `grants.elicit = true`";
            return Err(Failure::new(code::DENIED, message).hint(hint));
        }
        self.check_can_ask()?;
        let spent =
            |frame: &&Self| frame.questions_asked.load(Ordering::Relaxed) >= frame.entry.rules.questions;
        if let Some(frame) = self.frames().find(spent) {
            let most = frame.entry.rules.questions;
            let message =
                format!("access denied: a call of `{}` may ask {most} questions at most", frame.name());
            let hint = "the operator can raise `limits.questions` in its policy";
            return Err(Failure::new(code::DENIED, message).hint(hint));
        }
        Ok(())
    }

    /// Whether there is a person who can be asked.
    fn check_can_ask(&self) -> Result<(), Failure> {
        if self.state.can_ask {
            return Ok(());
        }
        let message = "unavailable: this client cannot ask the person";
        let hint = "ask the person yourself and pass what they say as a parameter, if there is one for it; \
                    otherwise use a client with elicitation";
        Err(Failure::new(code::UNAVAILABLE, message).hint(hint))
    }

    /// Asks the person, in the facade's name. The call is parked meanwhile.
    pub(super) async fn ask_person(&self, question: Question) -> Result<Answer, Failure> {
        self.check_can_ask()?;
        let form = Questionnaire::new(&question.schema).map_err(|message| {
            Failure::new(code::INVALID_PARAMS, format!("the question's form cannot be shown: {message}"))
        })?;
        let _parked = self.gate.parking.park(&self.state)?;
        for frame in self.frames() {
            drop(frame.permit.lock().await.take());
        }
        // On one line, hiding nothing: it must not look like another facade's, or like the host's own words.
        let message = format!("[{}] {}", self.name(), sanitise_line(&question.message, MAX_QUESTION_BYTES));
        let patience = question.timeout.map_or(QUESTION_TIMEOUT, |asked| asked.min(MAX_QUESTION_TIMEOUT));
        // What a client knows how to answer is asked by the facade that it called, and by none that this one calls.
        let name = question.name.filter(|_| self.name() == self.state.facade);
        let schema = form.schema().clone();
        let (key, answer) =
            self.state.open_question(Question { message, schema, name, timeout: question.timeout });
        // However the wait ends, the question ends with it.
        let _open = OpenQuestion { run: &self.state, key };
        let answer = tokio::time::timeout(patience, answer).await.map_err(|_| {
            Failure::new(code::TIMED_OUT, "timed out: nobody answered the question")
                .hint(format!("it stayed open for {}", units::duration_text(patience)))
        });
        // Much may have happened meanwhile: from the outermost call inwards, each must be served and permitted again.
        let mut chain: Vec<&Self> = self.frames().collect();
        while let Some(frame) = chain.pop() {
            if let Err(failure) = frame.resume().await {
                let _ = frame.stop_reason.set(failure);
                // The call ends as soon as this wait is seen to go on.
                std::future::pending::<()>().await;
            }
        }
        match answer?.unwrap_or(Answer::Cancelled) {
            Answer::Accepted(value) => match form.check(&value) {
                Ok(()) => Ok(Answer::Accepted(value)),
                Err(message) => {
                    let message = format!("the answer does not fit the question: {message}");
                    Err(Failure::new(code::INVALID_PARAMS, message).hint("ask again"))
                }
            },
            other => Ok(other),
        }
    }

    /// Whether the person can be asked through this call's client.
    pub(super) fn can_ask(&self) -> bool {
        self.state.can_ask
    }
}

/// A question that is open for as long as this lives.
struct OpenQuestion<'a> {
    run: &'a CallState,
    key: String,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.run.withdraw_question(&self.key);
    }
}
