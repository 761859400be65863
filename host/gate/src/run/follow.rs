//! Events of a call, as one follower receives them.

use loggia_facade::Progress;

use super::{event::CallEvent, state::CallState};

/// Position of one follower in the events of a call.
#[derive(Default)]
pub(crate) struct EventCursor {
    progress_count: u64,
    question_count: u64,
    approval_count: u64,
}

impl CallState {
    /// Waits for the next event of a follower. Cancel-safe: dropping the future loses no event.
    pub(crate) async fn next_event(&self, seen: &mut EventCursor) -> CallEvent {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(event) = self.poll_event(seen) {
                return event;
            }
            changed.await;
        }
    }

    /// Takes the latest progress, if the follower has not received it.
    pub(crate) fn next_progress(&self, seen: &mut EventCursor) -> Option<Progress> {
        let state = self.lock();
        (state.progress_count > seen.progress_count).then(|| seen.progress_count = state.progress_count)?;
        state.progress.clone()
    }

    fn poll_event(&self, seen: &mut EventCursor) -> Option<CallEvent> {
        if let Some(progress) = self.next_progress(seen) {
            return Some(CallEvent::Progress(progress));
        }
        let mut state = self.lock();
        if state.outcome.is_some() {
            let envelope = if state.keeps_outcome { state.outcome.clone() } else { state.outcome.take() };
            return envelope.map(|envelope| CallEvent::Done(Box::new(envelope)));
        }
        if state.question_count > seen.question_count && !state.questions.is_empty() {
            seen.question_count = state.question_count;
            let asks = state.questions.iter().map(|(key, (question, _))| (key.clone(), question.clone()));
            return Some(CallEvent::Asks(asks.collect()));
        }
        if state.approval_count > seen.approval_count {
            seen.approval_count = state.approval_count;
            return state.approvals.are_open().then_some(CallEvent::AwaitsApproval);
        }
        None
    }
}
