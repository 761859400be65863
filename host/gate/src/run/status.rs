//! Status of a call.

use loggia_facade::{Envelope, code};
use serde_json::{Value, json};

/// Status of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    /// Running, or waiting for a permit.
    Running,
    /// Waiting for a person.
    Waiting,
    /// Ended with a reply.
    Succeeded,
    /// Ended with a failure.
    Failed,
    /// Cancelled by its caller or by shutdown.
    Cancelled,
}

impl RunStatus {
    /// Name in `run_status`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Status of an ended call.
    pub fn from_envelope(envelope: &Envelope) -> Self {
        match &envelope.outcome {
            Ok(_) => Self::Succeeded,
            Err(failure) if failure.code == code::CANCELLED => Self::Cancelled,
            Err(_) => Self::Failed,
        }
    }

    /// Returns true once the call has ended.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

/// Renders progress as JSON, with whole numbers as integers.
pub(super) fn render_progress(done: f64, total: Option<f64>) -> Value {
    #[allow(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
    let number = |n: f64| if n.fract() == 0.0 && n.abs() < 9e15 { json!(n as i64) } else { json!(n) };
    let mut out = json!({ "done": number(done) });
    if let Some(total) = total {
        out["total"] = number(total);
    }
    out
}
