//! Where a run stands, as data.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use loggia_facade::Object;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::context::TemplateContext;
use crate::engine::failure::SecretRedactor;

/// A run. It can be written down and read again at any point; that changes nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunState {
    /// `.workflow.id`; calls carry it.
    pub(crate) id: String,
    /// For the chance in the pauses between retries.
    pub(crate) seed: u64,
    /// What templates see.
    pub(crate) context: TemplateContext,
    /// One for each step, in their order.
    pub(crate) phases: Vec<StepPhase>,
    pub(crate) clock: RunClock,
    /// About how many bytes the replies of its steps take.
    pub(crate) held: usize,
    /// It has ended.
    pub(crate) over: bool,
    /// There was more to begin than one step of the machine may: it goes on at once.
    pub(crate) more: bool,
    /// The secrets that it was given. Found out when they are first needed, since a thousand items may fail.
    #[serde(skip)]
    pub(crate) secrets: OnceLock<Arc<SecretRedactor>>,
}

/// Where a step stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum StepPhase {
    /// It has not begun.
    Waiting,
    /// Its call is under way, or will be tried again.
    Calling {
        call: CallState,
        /// When its time is up.
        until: Duration,
    },
    /// Its question is open.
    Asking { until: Duration },
    /// Its calls are under way.
    Each(LoopState),
    /// It is over.
    Ended(StepEnd),
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StepEnd {
    Completed,
    Failed,
    Skipped,
}

/// A call with its tries.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CallState {
    pub params: Object,
    /// Which try, from 0.
    pub attempt: u32,
    /// When it is tried again; none while it is under way.
    pub again: Option<Duration>,
}

/// The calls of a `forEach`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LoopState {
    /// All items; `null` in place of those that have ended, whose results hold them.
    pub items: Vec<Value>,
    /// What came of them; `null` in place of those that have not ended.
    pub results: Vec<Value>,
    /// The first that has not begun.
    pub next: usize,
    /// Those under way, with their places.
    pub calls: Vec<(usize, CallState)>,
    pub completed: usize,
    pub failed: usize,
    /// When the step's time is up.
    pub until: Duration,
}

/// A run's time.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct RunClock {
    /// Since the run began.
    pub now: Duration,
    /// What is left of the run's time. Time in which a person is asked does not count.
    pub left: Duration,
}

impl RunState {
    /// When the machine must be woken by [`RunEvent::Due`](super::Event::Due), if nothing else happens before.
    pub fn due(&self) -> Option<Duration> {
        if self.over {
            return None;
        }
        if self.more {
            return Some(self.clock.now);
        }
        let run = (!self.asks()).then(|| self.clock.now.saturating_add(self.clock.left));
        self.phases.iter().filter_map(StepPhase::due).chain(run).min()
    }

    /// Whether a question is open.
    pub(crate) fn asks(&self) -> bool {
        self.phases.iter().any(|phase| matches!(phase, StepPhase::Asking { .. }))
    }

    /// Lets time pass. It never runs back.
    pub(crate) fn pass(&mut self, now: Duration) {
        let now = now.max(self.clock.now);
        if !self.asks() {
            self.clock.left = self.clock.left.saturating_sub(now - self.clock.now);
        }
        self.clock.now = now;
    }

    /// Tasks that are under way. A call that will be tried again keeps its place among them.
    pub(crate) fn under_way(&self) -> usize {
        self.phases.iter().map(StepPhase::under_way).sum()
    }
}

impl StepPhase {
    fn due(&self) -> Option<Duration> {
        match self {
            Self::Waiting | Self::Ended(_) => None,
            Self::Asking { until } => Some(*until),
            Self::Calling { call, until } => Some(call.again.map_or(*until, |again| again.min(*until))),
            Self::Each(each) => {
                each.calls.iter().filter_map(|(_, call)| call.again).chain([each.until]).min()
            }
        }
    }

    fn under_way(&self) -> usize {
        match self {
            Self::Waiting | Self::Ended(_) => 0,
            Self::Calling { .. } | Self::Asking { .. } => 1,
            Self::Each(each) => each.calls.len(),
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

impl CallState {
    pub(crate) fn new(params: Object) -> Self {
        Self { params, attempt: 0, again: None }
    }

    /// Whether this try of it is under way.
    pub(crate) fn is_trying(&self, attempt: u32) -> bool {
        self.attempt == attempt && self.again.is_none()
    }
}
