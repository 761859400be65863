//! A caller's view of a run.

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use loggia_facade::{Answer, Envelope, Progress, Question};

use super::{approvals::RunApproval, state::CallState, status::RunStatus};

/// View of a run that does not follow it: dropping the view has no effect.
pub struct RunHandle(Arc<CallState>);

impl RunHandle {
    pub(crate) fn new(run: Arc<CallState>) -> Self {
        Self(run)
    }

    /// Facade that was called.
    pub fn facade(&self) -> &str {
        &self.0.facade
    }

    /// Action that was called; empty for several.
    pub fn action(&self) -> &str {
        self.0.command.name.as_deref().unwrap_or_default()
    }

    /// Current status.
    pub fn status(&self) -> RunStatus {
        self.0.status()
    }

    /// Latest progress.
    pub fn progress(&self) -> Option<Progress> {
        self.0.latest_progress()
    }

    /// Open questions by their keys.
    pub fn open_questions(&self) -> BTreeMap<String, Question> {
        self.0.open_questions()
    }

    /// The approvals for which it waits, and the latest for which it has waited.
    pub fn approvals(&self) -> Vec<RunApproval> {
        self.0.approvals()
    }

    /// Answers a question. Returns false if it is not open.
    pub fn answer(&self, key: &str, answer: Answer) -> bool {
        self.0.answer_question(key, answer)
    }

    /// Cancels the run: signals its facade, and drops it after a grace period.
    pub fn cancel(&self) {
        self.0.cancel.cancel();
    }

    /// Outcome, once it has ended.
    pub fn outcome(&self) -> Option<Envelope> {
        self.0.outcome()
    }

    /// Start time.
    pub fn began(&self) -> SystemTime {
        self.0.began
    }
}
