//! Questions to a person: which calls may ask, and how a call is parked while it waits.

use loggia_policy::model::limit_names::QUESTIONS;
use std::{sync::atomic::Ordering, time::Duration};

use futures_util::future::{BoxFuture, FutureExt};
use loggia_facade::{Answer, Failure, Question, QuestionKind};
use loggia_schema::sanitise_line;
use loggia_text::units;

use super::{audit, checked_question::CheckedQuestion, frame::CallFrame};
use crate::{
    failures::{denied, timed_out, unavailable},
    run::CallState,
};

/// Time that a question stays open.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// Longest time that a question may set for itself. Its call is kept in memory.
const MAX_QUESTION_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Longest time that a question of a durable call may set for itself. Its call survives the host.
const MAX_DURABLE_QUESTION_TIMEOUT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Length of a question's text, in bytes.
const MAX_QUESTION_BYTES: usize = 2000;

/// Says in a failure that a question is for a person whom the client cannot ask.
pub const CANNOT_ASK: &str = "this client cannot ask the person";

impl CallFrame {
    /// Asks a question of the facade's own, if the policy allows it.
    pub(super) async fn ask_for_facade(&self, question: Question) -> Result<Answer, Failure> {
        let event = match &question.kind {
            QuestionKind::Form { .. } => {
                self.check_may_elicit()?;
                "question"
            }
            // A client that cannot open links gets them in a failure.
            QuestionKind::Link { .. } => {
                self.check_is_granted()?;
                self.check_questions_left()?;
                "link"
            }
        };
        // Counted before it is known to be valid: a facade that asks in a loop costs something each time.
        for frame in self.frames() {
            frame.questions_asked.fetch_add(1, Ordering::Relaxed);
        }
        let answer = self.ask_person(question).await;
        audit::record_answer(self, event, &answer);
        answer
    }

    /// Checks that the policy allows questions, the client can show forms, and no frame has used up its number.
    pub(super) fn check_may_elicit(&self) -> Result<(), Failure> {
        self.check_is_granted()?;
        self.check_can_ask()?;
        self.check_questions_left()
    }

    fn check_is_granted(&self) -> Result<(), Failure> {
        if self.entry.rules.elicit {
            return Ok(());
        }
        let failure = denied(format_args!("the policy does not let `{}` ask the person", self.name()));
        Err(failure.hint("the operator can set `grants.elicit = true`"))
    }

    fn check_questions_left(&self) -> Result<(), Failure> {
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

    /// Checks that the client can ask a person by a form, or that an operator answers in its place.
    fn check_can_ask(&self) -> Result<(), Failure> {
        if self.state.can_ask || self.desk_for_questions().is_some() {
            return Ok(());
        }
        let hint = "ask the person and pass the answer as a parameter, if there is one for it; \
                    otherwise use a client with elicitation";
        Err(unavailable(CANNOT_ASK).hint(hint))
    }

    /// Asks the person in the facade's name.
    pub(super) async fn ask_person(&self, question: Question) -> Result<Answer, Failure> {
        let text = sanitise_line(&question.message, MAX_QUESTION_BYTES);
        if let (QuestionKind::Form { schema }, Some(desk)) = (&question.kind, self.desk_for_questions()) {
            return self.ask_operator_form(desk, &text, schema, &question).await;
        }
        let checked = self.check_question(&question.kind, &text)?;
        let patience = question.timeout.map_or(QUESTION_TIMEOUT, |asked| asked.min(self.question_limit()));
        let answer = self.ask_checked(&checked, question, patience, |answer| answer).await?;
        let answer = answer.ok_or_else(|| {
            timed_out("the question was not answered in time")
                .hint(format!("it stayed open for {}", units::format_duration(patience)))
        });
        match answer? {
            Answer::Accepted(value) => checked.check_answer(value),
            other => Ok(other),
        }
    }

    pub(super) fn question_limit(&self) -> Duration {
        if self.is_durable() { MAX_DURABLE_QUESTION_TIMEOUT } else { MAX_QUESTION_TIMEOUT }
    }

    /// Asks a question that was checked, and waits for what `answered` makes of its answer; `None` if it takes longer than
    /// `patience`. Meanwhile the call is parked.
    pub(super) async fn ask_checked<F: Future>(
        &self,
        checked: &CheckedQuestion,
        question: Question,
        patience: Duration,
        answered: impl FnOnce(BoxFuture<'static, Answer>) -> F,
    ) -> Result<Option<F::Output>, Failure> {
        // On one line and without control characters, so that it cannot pass for another facade's or the host's text.
        let text = sanitise_line(&question.message, MAX_QUESTION_BYTES);
        let message = checked.render_message(self.name(), &text);
        // Prepared answers are for the facade that the client called, not for those that it invokes.
        let name = question.name.filter(|_| self.name() == self.state.facade);
        let kind = checked.kind();
        let timeout = question.timeout;
        self.park_while(async {
            let (key, answer) = self.state.open_question(Question { message, kind, name, timeout });
            // Withdraws the question however the wait ends.
            let _open = OpenQuestion { state: &self.state, key };
            let answer = async { answer.await.unwrap_or(Answer::Cancelled) }.boxed();
            tokio::time::timeout(patience, answered(answer)).await.ok()
        })
        .await
    }

    /// Checks that a question may be shown, and that the client can show it.
    fn check_question(&self, kind: &QuestionKind, text: &str) -> Result<CheckedQuestion, Failure> {
        if matches!(kind, QuestionKind::Form { .. }) {
            self.check_can_ask()?;
        }
        match CheckedQuestion::new(kind)? {
            CheckedQuestion::Link(link) if !self.state.can_open_links => {
                Err(link.to_failure(self.name(), text))
            }
            checked => Ok(checked),
        }
    }

    /// Returns true if the client can ask a person by a form.
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
