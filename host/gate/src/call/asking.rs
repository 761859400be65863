//! A call that asks the person: whether it may, and what becomes of it meanwhile.

use std::{sync::atomic::Ordering, time::Duration};

use loggia_facade::{Answer, Failure, Question, code};
use loggia_schema::{QuestionForm, sanitise_line};
use loggia_text::units;

use super::{audit, frame::Line};
use crate::run::Run;

/// How long a parked call waits for its person.
const PARKED: Duration = Duration::from_secs(5 * 60);
/// The same for a question that asks for longer.
const PARKED_MOST: Duration = Duration::from_secs(30 * 60);

/// Bytes of a question that are shown.
const QUESTION: usize = 2000;

impl Line {
    /// A question of the facade's own, where the policy lets it ask.
    pub(super) async fn ask_for_facade(&self, question: Question) -> Result<Answer, Failure> {
        self.may_elicit()?;
        // Whether it can be shown or not: who asks again and again costs something each time.
        for line in self.chain() {
            line.asked.fetch_add(1, Ordering::Relaxed);
        }
        let answer = self.ask(question).await;
        audit::replied(self, "question", &answer);
        answer
    }

    /// Whether the facade may ask, there is somebody to be asked, and it has not asked too often.
    pub(super) fn may_elicit(&self) -> Result<(), Failure> {
        if !self.entry.rules.elicit {
            let said = format!("access denied: the policy does not let `{}` ask the person", self.name());
            let hint = "the operator can set `grants.elicit = true`";
            return Err(Failure::new(code::DENIED, said).hint(hint));
        }
        self.can_be_answered()?;
        let spent = |line: &&Self| line.asked.load(Ordering::Relaxed) >= line.entry.rules.questions;
        if let Some(line) = self.chain().find(spent) {
            let most = line.entry.rules.questions;
            let said = format!("access denied: a call of `{}` may ask {most} questions at most", line.name());
            let hint = "the operator can raise `limits.questions` in its policy";
            return Err(Failure::new(code::DENIED, said).hint(hint));
        }
        Ok(())
    }

    /// Whether there is a person who can be asked.
    fn can_be_answered(&self) -> Result<(), Failure> {
        if self.run.can_ask {
            return Ok(());
        }
        let said = "unavailable: this client cannot ask the person";
        let hint = "ask the person yourself and pass what they say as a parameter, if there is one for it; \
                    otherwise use a client with elicitation";
        Err(Failure::new(code::UNAVAILABLE, said).hint(hint))
    }

    /// Asks the person, in the facade's name. The call is parked meanwhile.
    pub(super) async fn ask(&self, question: Question) -> Result<Answer, Failure> {
        self.can_be_answered()?;
        let form = QuestionForm::new(&question.schema).map_err(|said| {
            Failure::new(code::INVALID_PARAMS, format!("the question's form cannot be shown: {said}"))
        })?;
        let _parked = self.shared.parking.park(&self.run)?;
        for line in self.chain() {
            drop(line.permit.lock().await.take());
        }
        // On one line, hiding nothing: it must not look like another facade's, or like the host's own words.
        let message = format!("[{}] {}", self.name(), sanitise_line(&question.message, QUESTION));
        let patience = question.timeout.map_or(PARKED, |asked| asked.min(PARKED_MOST));
        // What a client knows how to answer is asked by the facade that it called, and by none that this one calls.
        let name = question.name.filter(|_| self.name() == self.run.facade);
        let schema = form.schema().clone();
        let (key, answer) = self.run.ask(Question { message, schema, name, timeout: question.timeout });
        // However the wait ends, the question ends with it.
        let _open = Open { run: &self.run, key };
        let answer = tokio::time::timeout(patience, answer).await.map_err(|_| {
            Failure::new(code::TIMED_OUT, "timed out: nobody answered the question")
                .hint(format!("it stayed open for {}", units::format_duration(patience)))
        });
        // Much may have happened meanwhile: from the outermost call inwards, each must be served and permitted again.
        let mut chain: Vec<&Self> = self.chain().collect();
        while let Some(line) = chain.pop() {
            if let Err(failure) = line.come_back().await {
                let _ = line.stopped.set(failure);
                // The call ends as soon as this wait is seen to go on.
                std::future::pending::<()>().await;
            }
        }
        match answer?.unwrap_or(Answer::Cancelled) {
            Answer::Accepted(value) => match form.check(&value) {
                Ok(()) => Ok(Answer::Accepted(value)),
                Err(said) => {
                    let said = format!("the answer does not fit the question: {said}");
                    Err(Failure::new(code::INVALID_PARAMS, said).hint("ask again"))
                }
            },
            other => Ok(other),
        }
    }

    /// Whether the person can be asked through this call's client.
    pub(super) fn can_ask(&self) -> bool {
        self.run.can_ask
    }
}

/// A question that is open for as long as this lives.
struct Open<'a> {
    run: &'a Run,
    key: String,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.run.withdraw(&self.key);
    }
}
