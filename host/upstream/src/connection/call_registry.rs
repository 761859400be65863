//! Calls in flight, by their request and their progress token.

use std::{collections::HashMap, time::Duration};

use loggia_facade::{Answer, Failure, Progress, Question, Session};
use loggia_text::sanitise_line;
use parking_lot::Mutex;
use rmcp::{
    model::{ProgressNotificationParam, ProgressToken, RequestId},
    service::InboundStreamOrigin,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

/// Progress that came before its call was registered: over HTTP, rmcp sends a request before it returns the token.
const EARLY: usize = 64;
/// Bytes of a progress message.
const PROGRESS: usize = 400;

/// Time in which an upstream may still work on a cancelled call, and ask on its behalf.
const ABANDONED: Duration = Duration::from_secs(60);

/// A question of the upstream to the person behind a call. The call itself asks it.
pub(super) struct PendingQuestion {
    pub(super) question: Question,
    pub(super) answer: oneshot::Sender<Result<Answer, Failure>>,
}

/// The calls in flight over one connection.
#[derive(Default)]
pub(super) struct CallRegistry {
    state: Mutex<RegistryState>,
}

#[derive(Default)]
struct RegistryState {
    calls: HashMap<RequestId, (ProgressToken, CallEntry)>,
    requests: HashMap<ProgressToken, RequestId>,
    early: HashMap<ProgressToken, Progress>,
    /// When a call was last dropped before its result.
    abandoned: Option<Instant>,
}

/// Where messages on behalf of a call go.
pub(super) struct CallEntry {
    pub(super) session: Session,
    pub(super) questions: mpsc::Sender<PendingQuestion>,
}

impl CallRegistry {
    /// Adds a call.
    pub(super) fn add(&self, id: RequestId, token: ProgressToken, call: CallEntry) {
        let mut state = self.state.lock();
        let early = state.early.remove(&token).map(|progress| (call.session.clone(), progress));
        state.requests.insert(token.clone(), id.clone());
        state.calls.insert(id, (token, call));
        drop(state);
        if let Some((session, progress)) = early {
            session.progress(progress);
        }
    }

    /// Removes a call, which has its result or was abandoned.
    pub(super) fn remove(&self, id: &RequestId, is_done: bool) {
        let mut state = self.state.lock();
        if !is_done {
            state.abandoned = Some(Instant::now());
        }
        if let Some((token, _)) = state.calls.remove(id) {
            state.requests.remove(&token);
        }
    }

    /// Passes progress on to its call.
    pub(super) fn report(&self, params: ProgressNotificationParam) {
        let message = params.message.map(|text| sanitise_line(&text, PROGRESS));
        let message = message.filter(|text| !text.is_empty());
        let progress = Progress { done: params.progress, total: params.total, message };
        let token = params.progress_token;
        let mut state = self.state.lock();
        let call = state.requests.get(&token).and_then(|id| state.calls.get(id));
        match call.map(|(_, call)| call.session.clone()) {
            Some(session) => {
                drop(state);
                session.progress(progress);
            }
            None => {
                // Mostly progress of calls that have ended.
                if state.early.len() >= EARLY {
                    state.early.clear();
                }
                state.early.insert(token, progress);
            }
        }
    }

    /// The call on whose behalf the upstream asks: the one whose stream the question came on, else the only one in flight.
    ///
    /// # Errors
    ///
    /// If it cannot be known: a question for one person must not reach another.
    pub(super) fn questions(
        &self,
        origin: Option<&InboundStreamOrigin>,
    ) -> Result<mpsc::Sender<PendingQuestion>, &'static str> {
        let state = self.state.lock();
        let call = match origin {
            Some(InboundStreamOrigin::OutboundRequest(id)) => state.calls.get(id),
            Some(InboundStreamOrigin::Unassociated) => None,
            None if state.calls.len() > 1 => {
                return Err("several calls are in flight, so the person to ask is unknown");
            }
            None if state.abandoned.is_some_and(|at| at.elapsed() < ABANDONED) => {
                return Err("a call was cancelled a moment ago, so the person to ask is unknown");
            }
            None => state.calls.values().next(),
        };
        call.map(|(_, call)| call.questions.clone()).ok_or("questions are answered during calls only")
    }
}
