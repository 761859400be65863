//! Plays one call from its recording, and takes what it did.

use std::sync::{Mutex, PoisonError};

use loggia_cases::recording::{CallRecording, EndedTape, TapeEnd, TapePlan, TapeStart};

/// The first call is played, whatever its policy says. Calls that it makes are answered from its recording, so there are no others.
#[derive(Debug)]
pub struct ReplayPlan(Mutex<ReplayState>);

#[derive(Debug)]
struct ReplayState {
    recorded: Option<CallRecording>,
    ended: Option<EndedTape>,
}

impl ReplayPlan {
    /// The plan of one replay.
    pub fn new(recorded: CallRecording) -> Self {
        Self(Mutex::new(ReplayState { recorded: Some(recorded), ended: None }))
    }

    /// Takes what the call did.
    pub fn take(&self) -> Option<EndedTape> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).ended.take()
    }
}

impl TapePlan for ReplayPlan {
    fn begin(&self, _: bool) -> TapeStart {
        let recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner).recorded.take();
        recorded.map_or(TapeStart::Pass, |recorded| TapeStart::Play(Box::new(recorded)))
    }

    fn end(&self, _: &str, tape: TapeEnd) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).ended = tape;
    }
}
