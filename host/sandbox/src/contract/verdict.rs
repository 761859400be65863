//! A guard's verdict.

use loggia_facade::GuardVerdict;

use super::{failure::RawFailure, malformed::MalformedAnswer};

/// A verdict as a guard returns it.
pub(crate) enum RawVerdict {
    Allow,
    Refuse(RawFailure),
    /// JSON, which whoever asked the guard parses.
    Replace(String),
}

impl RawVerdict {
    /// Bytes that it takes up, as the limit of a result counts them.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Allow => 0,
            Self::Refuse(failure) => failure.size(),
            Self::Replace(text) => text.len(),
        }
    }

    /// Parses the JSON texts of a failure.
    pub(crate) fn parse(self) -> Result<GuardVerdict, MalformedAnswer> {
        Ok(match self {
            Self::Allow => GuardVerdict::Allow,
            Self::Refuse(failure) => GuardVerdict::Refuse(failure.parse()?),
            Self::Replace(text) => GuardVerdict::Replace(text),
        })
    }
}
