//! Progress of a saga: what it can undo, and the undoing itself.

use std::time::Duration;

use loggia_facade::{Failure, Object};
use serde::{Deserialize, Serialize};

use super::step_call::StepCallState;

/// Progress of a saga. Of other workflows it stays empty.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SagaState {
    /// Completed calls that have changed something, in the order of their completion.
    pub done: Vec<DoneCall>,
    /// Calls that may have taken effect or not, by step and item.
    pub unknown: Vec<(usize, Option<usize>)>,
    /// Set when the run stops, unless nothing can be undone.
    pub ending: Option<SagaEnding>,
    /// Number of times that the run began again after it was undone. Part of the idempotency keys: to the called actions, a
    /// call that was undone and is made again is a new one.
    pub round: u32,
}

/// Completed call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DoneCall {
    pub step: usize,
    pub item: Option<usize>,
    /// Its idempotency key.
    pub key: String,
    /// Parameters of its compensation.
    pub params: Object,
    pub undo: UndoStatus,
}

/// What became of a completed call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum UndoStatus {
    /// Its effect remains.
    Remains,
    /// It was irreversible.
    Irreversible,
    Undone,
    Failed {
        code: String,
        message: String,
    },
}

/// A run that has stopped, and undoes what it has done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SagaEnding {
    /// Reason for which it stopped.
    pub stop: RunStop,
    /// End of the time for compensations. `None` while calls that change something are still under way.
    pub deadline: Option<Duration>,
    /// Compensation under way.
    pub active: Option<ActiveUndo>,
}

/// Compensation under way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ActiveUndo {
    /// Index of the call that it undoes.
    pub place: usize,
    pub call: StepCallState,
    pub deadline: Duration,
}

/// Reason for which a run stops.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RunStop {
    pub code: String,
    pub message: String,
    /// Step that caused the stop.
    pub step: Option<usize>,
    pub cause: Option<Failure>,
    pub inputs: Option<Object>,
}

impl SagaState {
    /// Returns true if an irreversible call was made: then the others must remain, too.
    pub(crate) fn is_settled(&self) -> bool {
        self.done.iter().any(|call| matches!(call.undo, UndoStatus::Irreversible))
    }

    /// Returns the call to undo next: the last one.
    pub(crate) fn next_undo(&self) -> Option<usize> {
        self.done.iter().rposition(|call| matches!(call.undo, UndoStatus::Remains))
    }

    /// Returns true if a call of the step could not be undone.
    pub(crate) fn has_failed_undo(&self, step: usize) -> bool {
        self.calls_of(step).any(|call| matches!(call.undo, UndoStatus::Failed { .. }))
    }

    /// Returns true if all calls of the step were undone.
    pub(crate) fn has_undone(&self, step: usize) -> bool {
        let mut calls = self.calls_of(step).peekable();
        calls.peek().is_some() && calls.all(|call| matches!(call.undo, UndoStatus::Undone))
    }

    fn calls_of(&self, step: usize) -> impl Iterator<Item = &DoneCall> {
        self.done.iter().filter(move |call| call.step == step)
    }

    /// Time at which the ending needs to be woken.
    pub(crate) fn due(&self) -> Option<Duration> {
        let ending = self.ending.as_ref()?;
        let active = ending.active.iter().map(|active| match active.call.retry_at {
            Some(retry_at) => retry_at.min(active.deadline),
            None => active.deadline,
        });
        active.chain(ending.deadline).min()
    }
}
