//! How failures are named in spans: by known codes alone, since plugins may put anything into codes of their own.

use super::{ActiveSpan, names};
use crate::{Stop, code};

/// Returns the `error.type` of a failure with this code.
pub fn error_type(code: &str) -> &'static str {
    code::ALL.into_iter().find(|known| *known == code).unwrap_or(names::OTHER)
}

impl ActiveSpan {
    /// Ends the span of a call with this outcome.
    pub fn finish_call<T>(self, outcome: &Result<T, Stop>) {
        match outcome {
            Ok(_) => self.end(),
            Err(Stop::Failure(failure)) => self.fail(error_type(&failure.code)),
            Err(Stop::Fault(fault)) => self.fail(fault.kind.as_str()),
            Err(Stop::Cancelled) => self.fail(names::CANCELLED),
        }
    }
}
