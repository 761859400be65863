//! Sagas: workflows that undo what they have done if they fail.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    call::ToolCall,
    on_error::{OnError, UnknownOutcome},
};

/// `transaction: saga`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SagaRules {
    /// Time for all compensations of a run.
    pub timeout: Duration,
}

/// How a saga undoes the call of a step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum UndoRule {
    /// `compensate`: by another call.
    Compensate(Box<CompensatingCall>),
    /// `irreversible: true`: not at all.
    Irreversible,
}

/// Call that undoes another one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CompensatingCall {
    /// The call. Its arguments are expanded as soon as the other one has completed.
    pub call: ToolCall,
    /// Timeout including its retries.
    pub timeout: Duration,
    /// Policy for a failure; only retries matter.
    pub on_error: OnError,
    /// Policy for an interruption by a restart.
    pub on_unknown: Option<UnknownOutcome>,
}

impl UndoRule {
    /// Returns the call that undoes the step's, if there is one.
    pub fn compensation(&self) -> Option<&CompensatingCall> {
        match self {
            Self::Compensate(call) => Some(call),
            Self::Irreversible => None,
        }
    }
}
