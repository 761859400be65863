//! A run as its caller looks at it.

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use loggia_facade::{Answer, Envelope, Progress, Question};

use super::{state::CallState, status::Status};

/// A run, to be looked at.
pub struct Look(Arc<CallState>);

impl Look {
    pub(crate) fn new(run: Arc<CallState>) -> Self {
        Self(run)
    }

    /// Whose call it was.
    pub fn facade(&self) -> &str {
        &self.0.facade
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        self.0.status()
    }

    /// What it last said of its progress.
    pub fn progress(&self) -> Option<Progress> {
        self.0.latest_progress()
    }

    /// The questions that are open.
    pub fn asks(&self) -> BTreeMap<String, Question> {
        self.0.open_questions()
    }

    /// Answers a question. False where it is not open (any more).
    pub fn answer(&self, key: &str, answer: Answer) -> bool {
        self.0.answer_question(key, answer)
    }

    /// Ends it: its facade is told, and dropped if it does not end by itself.
    pub fn cancel(&self) {
        self.0.cancel.cancel();
    }

    /// What came of it, once it has ended.
    pub fn outcome(&self) -> Option<Envelope> {
        self.0.outcome()
    }

    /// When it began.
    pub fn began(&self) -> SystemTime {
        self.0.began
    }
}
