//! The lines of an export.

use std::borrow::Cow;

use base64::{Engine, prelude::BASE64_STANDARD};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

use crate::{StateSpace, limits};

/// Value of the head's `format`.
pub(crate) const FORMAT: &str = "loggia-state";
/// Version of the format.
pub(crate) const VERSION: u32 = 1;
const SHARED: &str = "shared";

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportHead<'a> {
    pub format: Cow<'a, str>,
    pub version: u32,
    /// Name of the facade whose state it was.
    pub facade: Cow<'a, str>,
    /// Number of lines that follow, to detect truncation. A hand-written head may omit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
}

/// Each further line: an entry. The value is text, or base64 where it is not UTF-8.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportLine<'a> {
    space: Cow<'a, str>,
    key: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
}

/// An entry as it is exported.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ExportRecord {
    pub space: StateSpace,
    pub key: String,
    pub value: Vec<u8>,
    pub until: Option<u64>,
}

impl<'a> ExportLine<'a> {
    pub(crate) fn new(space: &StateSpace, key: &'a str, value: &'a [u8], until: Option<u64>) -> Self {
        let space = match space {
            StateSpace::Shared => Cow::Borrowed(SHARED),
            StateSpace::Caller(caller) => Cow::Owned(HEXLOWER.encode(caller)),
        };
        let text = std::str::from_utf8(value).ok().map(Cow::Borrowed);
        let base64 = text.is_none().then(|| Cow::Owned(BASE64_STANDARD.encode(value)));
        Self { space, key: Cow::Borrowed(key), text, base64, until }
    }

    /// Parses the entry and checks it as a commit would; the error describes the mistake.
    pub(crate) fn into_record(self) -> Result<ExportRecord, String> {
        let space = parse_space(&self.space).ok_or("`space` must be \"shared\" or 64 hexadecimal digits")?;
        let value = match (self.text, self.base64) {
            (Some(text), None) => text.into_owned().into_bytes(),
            (None, Some(code)) => BASE64_STANDARD
                .decode(code.as_bytes())
                .map_err(|error| format!("`base64` is invalid: {error}"))?,
            _ => return Err("it must have `text` or `base64`, and not both".to_owned()),
        };
        let key = self.key.into_owned();
        limits::check_key(&key)
            .and_then(|()| limits::check_value(&key, &value))
            .map_err(|error| error.to_string())?;
        Ok(ExportRecord { space, key, value, until: self.until })
    }
}

fn parse_space(text: &str) -> Option<StateSpace> {
    if text == SHARED {
        return Some(StateSpace::Shared);
    }
    let digits = text.bytes().map(|byte| (byte as char).to_digit(16).map(|digit| digit as u8));
    let digits = digits.collect::<Option<Vec<_>>>().filter(|digits| digits.len() == 64)?;
    let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    bytes.try_into().ok().map(StateSpace::Caller)
}
