//! What a call asks of a person.

use loggia_facade::{Answer, Question};
use tokio::sync::oneshot;

use super::state::CallState;

/// Named questions of one call; further ones are numbered like those without a name.
const MAX_NAMED: usize = 64;

impl CallState {
    /// Puts a question; the receiver gets the answer, or an error where nobody will give one.
    pub(crate) fn open_question(&self, question: Question) -> (String, oneshot::Receiver<Answer>) {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.lock();
        let name = question
            .name
            .clone()
            .filter(|name| !is_generated_key(name) && state.asked_names.len() < MAX_NAMED);
        let name = name.filter(|name| state.asked_names.insert(name.clone()));
        if let Some((name, answer)) = name.as_ref().and_then(|name| state.prepared_answers.remove_entry(name))
        {
            let _ = sender.send(answer);
            return (name, receiver);
        }
        state.question_count += 1;
        let key = name.unwrap_or_else(|| format!("q{}", state.question_count));
        state.questions.insert(key.clone(), (question, sender));
        drop(state);
        self.changed.notify_waiters();
        (key, receiver)
    }

    /// Takes answers to named questions that the call may ask.
    pub(crate) fn prepare_answers(&self, answers: impl Iterator<Item = (String, Answer)>) {
        self.lock().prepared_answers = answers.take(MAX_NAMED).collect();
    }

    /// Gives an answer. False where no such question is open.
    pub(crate) fn answer_question(&self, key: &str, answer: Answer) -> bool {
        let ask = self.lock().questions.remove(key);
        self.changed.notify_waiters();
        ask.is_some_and(|(_, sender)| sender.send(answer).is_ok())
    }

    /// Takes a question back, if nobody has answered it.
    pub(crate) fn withdraw_question(&self, key: &str) {
        if self.lock().questions.remove(key).is_some() {
            self.changed.notify_waiters();
        }
    }

    /// Resolves when a question is no longer open.
    pub(crate) async fn wait_until_closed(&self, key: &str) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if !self.lock().questions.contains_key(key) {
                return;
            }
            changed.await;
        }
    }
}

/// Whether a name looks like the key of a question that has none.
fn is_generated_key(name: &str) -> bool {
    name.strip_prefix('q').is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
}
