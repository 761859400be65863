//! State of a run, as data.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{context::TemplateContext, saga_state::SagaState, step_call::StepCallState};
use crate::engine::{
    failure::SecretRedactor,
    model::{DryRun, RunPlan},
};

/// State of a run. It can be serialized and restored at any point without changing the run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunState {
    /// `.workflow.id`; calls carry it.
    pub(crate) id: String,
    /// Seed for the jitter of retries.
    pub(crate) seed: u64,
    /// Data that templates read.
    pub(crate) context: TemplateContext,
    /// Phases by step.
    pub(crate) phases: Vec<StepPhase>,
    pub(crate) clock: RunClock,
    /// Approximate size of the replies, in bytes.
    pub(crate) held_bytes: usize,
    /// What a saga can undo.
    #[serde(default)]
    pub(crate) saga: SagaState,
    /// Idempotency keys that the file states, with the call that has each.
    #[serde(default)]
    pub(crate) keys: BTreeMap<String, (usize, Option<usize>)>,
    /// Plans steps instead of making them.
    #[serde(default)]
    pub(crate) dry: Option<DryRun>,
    /// Planned steps, as the dry run reports them.
    #[serde(default)]
    pub(crate) planned: Vec<Value>,
    /// The run has ended.
    pub(crate) is_over: bool,
    /// The start limit of the last transition was reached: the next one is due immediately.
    pub(crate) has_more: bool,
    /// Redactor of the run's secrets. Derived from the context, so it is not serialized: built on first use, by `&self`
    /// methods too, and kept because a thousand items may fail. An answer, which may contain another secret, clears it.
    #[serde(skip)]
    pub(crate) secrets: OnceLock<Arc<SecretRedactor>>,
}

/// Phase of a step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum StepPhase {
    /// Not started.
    Waiting,
    /// Calling, or waiting for a retry.
    Calling {
        call: StepCallState,
        /// Deadline of the step.
        deadline: Duration,
    },
    /// Waiting for an answer.
    Asking { deadline: Duration },
    /// Calling for each item.
    Each(LoopState),
    /// Ended.
    Ended(StepEnd),
}

/// Ways in which a step ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StepEnd {
    Completed,
    Failed,
    Skipped,
    /// Stopped while it was active, since the run is undone.
    Stopped,
    /// Planned by a dry run.
    Planned,
}

/// Progress of a `forEach`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LoopState {
    /// Items; ended items are `null` here because their results hold them.
    pub items: Vec<Value>,
    /// Results; `null` for items that have not ended.
    pub results: Vec<Value>,
    /// Index of the next item to start.
    pub next: usize,
    /// Active calls by item.
    pub calls: Vec<(usize, StepCallState)>,
    pub completed: usize,
    pub failed: usize,
    /// Deadline of the step.
    pub deadline: Duration,
}

/// Clock of a run.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct RunClock {
    /// Time since the run began.
    pub now: Duration,
    /// Remaining time of the run. Time spent waiting for a person does not count.
    pub remaining: Duration,
}

impl RunState {
    /// Returns the time at which the machine needs [`RunEvent::Due`](crate::engine::RunEvent::Due), unless another
    /// event comes first.
    pub fn due(&self) -> Option<Duration> {
        if self.is_over {
            return None;
        }
        if self.saga.ending.is_some() {
            return self.phases.iter().filter_map(StepPhase::due).chain(self.saga.due()).min();
        }
        if self.has_more {
            return Some(self.clock.now);
        }
        let run = (!self.has_open_question()).then(|| self.clock.now.saturating_add(self.clock.remaining));
        self.phases.iter().filter_map(StepPhase::due).chain(run).min()
    }

    /// Returns true if the run is a saga that could not undo all it had done.
    pub fn has_failed_undo(&self) -> bool {
        (0..self.phases.len()).any(|step| self.saga.has_failed_undo(step))
    }

    /// Returns the time that the run needs at most to undo what it has done: `None` unless it has stopped and does so.
    pub fn undo_time(&self, plan: &RunPlan) -> Option<Duration> {
        let saga = plan.workflow.saga.as_ref().filter(|_| !self.is_over && self.saga.ending.is_some())?;
        let last = self.phases.iter().filter_map(StepPhase::deadline).max().unwrap_or(self.clock.now);
        Some(last.saturating_sub(self.clock.now).saturating_add(saga.timeout))
    }

    /// Returns the status of each step, in file order.
    pub fn step_statuses(&self) -> impl Iterator<Item = &'static str> {
        self.phases.iter().enumerate().map(|(step, phase)| match phase {
            _ if self.saga.has_failed_undo(step) => "not undone",
            _ if self.saga.has_undone(step) => "undone",
            StepPhase::Waiting => "not run",
            StepPhase::Calling { call, .. } if call.retry_at.is_some() => "retrying",
            StepPhase::Calling { .. } | StepPhase::Each(_) => "running",
            StepPhase::Asking { .. } => "waiting",
            StepPhase::Ended(StepEnd::Completed) => "completed",
            StepPhase::Ended(StepEnd::Failed) => "failed",
            StepPhase::Ended(StepEnd::Skipped) => "skipped",
            StepPhase::Ended(StepEnd::Stopped) => "stopped",
            StepPhase::Ended(StepEnd::Planned) => "planned",
        })
    }

    /// Returns true if a question is open.
    pub(crate) fn has_open_question(&self) -> bool {
        self.phases.iter().any(|phase| matches!(phase, StepPhase::Asking { .. }))
    }

    /// Advances the clock. Time never runs backwards.
    pub(crate) fn advance_clock(&mut self, now: Duration) {
        let now = now.max(self.clock.now);
        if !self.has_open_question() {
            self.clock.remaining = self.clock.remaining.saturating_sub(now - self.clock.now);
        }
        self.clock.now = now;
    }

    /// Counts active tasks, including calls that wait for a retry.
    pub(crate) fn active_tasks(&self) -> usize {
        self.phases.iter().map(StepPhase::active_tasks).sum()
    }
}

impl StepPhase {
    fn due(&self) -> Option<Duration> {
        match self {
            Self::Waiting | Self::Ended(_) => None,
            Self::Asking { deadline } => Some(*deadline),
            Self::Calling { call, deadline } => {
                Some(call.retry_at.map_or(*deadline, |retry_at| retry_at.min(*deadline)))
            }
            Self::Each(each) => {
                each.calls.iter().filter_map(|(_, call)| call.retry_at).chain([each.deadline]).min()
            }
        }
    }

    fn deadline(&self) -> Option<Duration> {
        match self {
            Self::Waiting | Self::Ended(_) => None,
            Self::Asking { deadline } | Self::Calling { deadline, .. } => Some(*deadline),
            Self::Each(each) => Some(each.deadline),
        }
    }

    fn active_tasks(&self) -> usize {
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
