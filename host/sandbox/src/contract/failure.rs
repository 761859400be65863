//! A guest's failure.

use loggia_facade::Failure;

use super::{
    extras::{RawExtras, extras_size, text_size},
    malformed::{MalformedAnswer, parse_json},
    next::{RawNext, parse_next},
};

/// Names of a failure's extras.
pub(crate) mod failure_extra {
    /// Signature of the action that was called.
    pub(crate) const EXPECTED: &str = "expected";
    /// Arguments that would be valid.
    pub(crate) const EXAMPLE: &str = "example";
}

/// A failure as a guest returns it.
pub(crate) struct RawFailure {
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
    /// JSON.
    pub details: Option<String>,
    pub retry_after_ms: Option<u64>,
    pub next: Option<RawNext>,
    pub extras: RawExtras,
}

impl RawFailure {
    /// Bytes that it takes up, as the limit of a result counts them.
    pub(crate) fn size(&self) -> usize {
        self.code.len()
            + self.message.len()
            + text_size(self.hint.as_ref())
            + text_size(self.details.as_ref())
            + self.next.as_ref().map_or(0, RawNext::size)
            + extras_size(&self.extras)
    }

    /// Parses the JSON texts in it. The gate's additions to another's failure, which the plugin passes on, are kept.
    pub(crate) fn parse(self) -> Result<Failure, MalformedAnswer> {
        let extra = |name: &str| {
            let found = self.extras.iter().find(|(extra, _)| extra == name);
            found.map(|(_, text)| parse_json("an extra of the failure", text)).transpose()
        };
        let expected = extra(failure_extra::EXPECTED)?.and_then(|value| value.as_str().map(str::to_owned));
        let example = extra(failure_extra::EXAMPLE)?;
        Ok(Failure {
            code: self.code,
            message: self.message,
            hint: self.hint,
            details: self.details.map(|text| parse_json("the failure's details", &text)).transpose()?,
            retry_after_ms: self.retry_after_ms,
            next: parse_next(self.next, &self.extras),
            expected,
            example,
        })
    }
}
