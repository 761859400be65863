//! Open questions of a call.

use loggia_facade::{Answer, Question};
use tokio::sync::oneshot;

use super::{approvals::RunApproval, state::CallState};
use crate::approval::ApprovalState;

/// Maximum number of named questions of one call. Further ones get a generated key.
const MAX_NAMED: usize = 64;

impl CallState {
    /// Opens a question under a new key. The receiver gets the answer, or an error if the question is closed without one.
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

    /// Stores answers to named questions that the call may ask later.
    pub(crate) fn prepare_answers(&self, answers: impl Iterator<Item = (String, Answer)>) {
        self.lock().prepared_answers = answers.take(MAX_NAMED).collect();
    }

    /// Answers a question. Returns false if it is not open.
    pub(crate) fn answer_question(&self, key: &str, answer: Answer) -> bool {
        let ask = self.lock().questions.remove(key);
        self.changed.notify_waiters();
        ask.is_some_and(|(_, sender)| sender.send(answer).is_ok())
    }

    /// Closes a question without an answer, if it is still open.
    pub(crate) fn withdraw_question(&self, key: &str) {
        if self.lock().questions.remove(key).is_some() {
            self.changed.notify_waiters();
        }
    }

    /// Shows that the call waits for an approval.
    pub(crate) fn show_approval(&self, approval: RunApproval, text: String) {
        let mut state = self.lock();
        state.approvals.open(approval, text);
        state.approval_count += 1;
        drop(state);
        self.changed.notify_waiters();
    }

    /// Shows that the call no longer waits for an approval, and why.
    pub(crate) fn end_approval(&self, id: &str, end: ApprovalState) {
        self.lock().approvals.end(id, end);
        self.changed.notify_waiters();
    }

    /// The approvals for which the call waits, and the latest for which it has waited.
    pub(crate) fn approvals(&self) -> Vec<RunApproval> {
        self.lock().approvals.list()
    }

    /// Returns true while the call waits for an approval.
    pub(crate) fn awaits_approval(&self) -> bool {
        self.lock().approvals.are_open()
    }

    /// Waits until a question is closed.
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

/// Returns true if a name could be mistaken for a generated key (`q1`).
fn is_generated_key(name: &str) -> bool {
    name.strip_prefix('q').is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
}
