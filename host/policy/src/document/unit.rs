//! Sizes, times and counts: parsing and formatting.

use std::time::Duration;

use loggia_text::units;

use super::{field::Field, problem::Problems};

/// Unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes, as `"64MiB"`.
    Size,
    /// Milliseconds, as `"30s"`.
    Time,
    /// A plain number.
    Count,
}

impl Unit {
    /// Formats a number for messages, as in the file but without quotes.
    pub fn text(self, number: u64) -> String {
        match self {
            Self::Size => units::format_bytes(number),
            Self::Time => units::format_duration(Duration::from_millis(number)),
            Self::Count => number.to_string(),
        }
    }

    /// Formats a number as TOML.
    pub fn toml(self, number: u64) -> String {
        let text = self.text(number);
        if self == Self::Count { text } else { format!("{text:?}") }
    }

    /// Reads a number (`None` if it is negative) and its form for messages.
    pub fn read(self, field: &Field<'_>, problems: &mut Problems) -> Option<(Option<u64>, String)> {
        let expected = match self {
            Self::Count => {
                let number = field.integer(problems)?;
                return Some((u64::try_from(number).ok(), number.to_string()));
            }
            Self::Size => "a size in quotes, like \"64MiB\"",
            Self::Time => "a time in quotes, like \"30s\"",
        };
        let text = field.text_as(expected, problems)?;
        let parsed = match self {
            Self::Time => units::parse_duration(&text.value).map(millis),
            _ => units::parse_bytes(&text.value),
        };
        match parsed {
            Ok(number) => Some((Some(number), text.quoted())),
            Err(reason) => {
                field.report(format!("({}) {reason}", text.quoted()), problems);
                None
            }
        }
    }
}

/// Converts a duration to milliseconds.
pub fn millis(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}
