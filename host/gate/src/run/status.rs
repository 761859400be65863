//! How a run stands.

use loggia_facade::{Envelope, code};
use serde_json::{Value, json};

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It runs, or waits for its turn.
    Running,
    /// It waits for a person.
    Waiting,
    /// It worked.
    Succeeded,
    /// It failed.
    Failed,
    /// It was ended from outside.
    Cancelled,
}

impl Status {
    /// The word in `run_status`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// How a call ended.
    pub fn from_envelope(envelope: &Envelope) -> Self {
        match &envelope.outcome {
            Ok(_) => Self::Succeeded,
            Err(failure) if failure.code == code::CANCELLED => Self::Cancelled,
            Err(_) => Self::Failed,
        }
    }

    /// Whether nothing follows.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

/// Whole numbers whole.
pub(super) fn render_progress(done: f64, total: Option<f64>) -> Value {
    #[allow(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
    let number = |n: f64| if n.fract() == 0.0 && n.abs() < 9e15 { json!(n as i64) } else { json!(n) };
    let mut out = json!({ "done": number(done) });
    if let Some(total) = total {
        out["total"] = number(total);
    }
    out
}
