//! The tapes of calls, by the calls' ids.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::Timestamp;
use loggia_egress::{HttpTape, HttpTapes};
use loggia_facade::{Call, Object, Reply, Stop};
use loggia_sandbox::{GuestTape, GuestTapes};
use tokio::time::Instant;

use super::{
    call_recording::CallRecording,
    call_tape::{CallTape, EndedTape},
};

/// Decides what becomes of calls.
pub trait TapePlan: fmt::Debug + Send + Sync + 'static {
    /// Decides about a call that begins. `is_allowed`: its policy lets it be recorded.
    fn begin(&self, is_allowed: bool) -> TapeStart;
    /// Takes the tape of a call that has ended; `None` if the call was too large. Called on a thread that serves calls: must not
    /// block.
    fn end(&self, facade: &str, tape: TapeEnd);
}

/// What becomes of a call.
#[derive(Debug)]
pub enum TapeStart {
    /// Nothing is kept of it.
    Pass,
    /// It is recorded.
    Record,
    /// It is answered from this recording, and recorded.
    Play(Box<CallRecording>),
}

/// What a tape has kept.
pub type TapeEnd = Option<EndedTape>;

/// The tapes of calls that run.
#[derive(Debug)]
pub struct CallTapes {
    plan: Arc<dyn TapePlan>,
    /// Locked for a moment at the start and the end of a call, never across an await.
    open: Mutex<HashMap<String, Arc<CallTape>>>,
}

impl CallTapes {
    /// Creates tapes by a plan.
    pub fn new(plan: Arc<dyn TapePlan>) -> Self {
        Self { plan, open: Mutex::default() }
    }

    /// Begins the tape of a call, if anything is kept of it.
    pub(super) fn begin(
        self: &Arc<Self>,
        call: &Call,
        facade: (&str, &str),
        schema: Option<&Object>,
        is_allowed: bool,
    ) -> Option<OpenTape> {
        let played = match self.plan.begin(is_allowed) {
            TapeStart::Pass => return None,
            TapeStart::Record => None,
            TapeStart::Play(played) => Some(*played),
        };
        let (name, artifact) = facade;
        let time = Timestamp::now().strftime("%FT%T.%3fZ").to_string();
        let tape = Arc::new(CallTape::new(CallRecording::new(time, name, artifact), played));
        tape.keep_call(call, schema);
        let id = call.id.0.clone();
        self.lock().insert(id.clone(), Arc::clone(&tape));
        Some(OpenTape {
            tapes: Arc::clone(self),
            facade: name.to_owned(),
            id,
            tape,
            began: Instant::now(),
            ended: false,
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<CallTape>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpTapes for CallTapes {
    fn tape(&self, call: &str) -> Option<Arc<dyn HttpTape>> {
        self.lock().get(call).cloned().map(|tape| tape as _)
    }
}

impl GuestTapes for CallTapes {
    fn tape(&self, call: &str) -> Option<Arc<dyn GuestTape>> {
        self.lock().get(call).cloned().map(|tape| tape as _)
    }
}

/// The tape of a call that runs. A call that is dropped was cancelled.
pub(super) struct OpenTape {
    tapes: Arc<CallTapes>,
    facade: String,
    id: String,
    pub(super) tape: Arc<CallTape>,
    began: Instant,
    ended: bool,
}

impl OpenTape {
    /// Ends the tape with the outcome of its call.
    pub(super) fn end(mut self, outcome: &Result<Reply, Stop>) {
        self.finish(outcome);
    }

    fn finish(&mut self, outcome: &Result<Reply, Stop>) {
        self.ended = true;
        self.tapes.lock().remove(&self.id);
        self.tapes.plan.end(&self.facade, self.tape.end(outcome, self.began.elapsed()));
    }
}

impl Drop for OpenTape {
    fn drop(&mut self) {
        if !self.ended {
            self.finish(&Err(Stop::Cancelled));
        }
    }
}
