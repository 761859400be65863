//! The lines of an export.

use std::borrow::Cow;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};

use crate::{Space, limits};

/// What the head's `format` says.
pub(crate) const FORMAT: &str = "loggia-state";
/// Of the lines below.
pub(crate) const VERSION: u32 = 1;
const SHARED: &str = "shared";

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head<'a> {
    pub format: Cow<'a, str>,
    pub version: u32,
    /// Whose state it was.
    pub facade: Cow<'a, str>,
    /// How many lines follow, so that a text which was cut off shows. A hand-written one may leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
}

/// Each further line: an entry. Its value is text, or else base64.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line<'a> {
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
pub(crate) struct Record {
    pub space: Space,
    pub key: String,
    pub value: Vec<u8>,
    pub until: Option<u64>,
}

impl<'a> Line<'a> {
    pub(crate) fn new(space: &Space, key: &'a str, value: &'a [u8], until: Option<u64>) -> Self {
        let space = match space {
            Space::Shared => Cow::Borrowed(SHARED),
            Space::Caller(caller) => Cow::Owned(caller.iter().map(|byte| format!("{byte:02x}")).collect()),
        };
        let text = std::str::from_utf8(value).ok().map(Cow::Borrowed);
        let base64 = text.is_none().then(|| Cow::Owned(BASE64_STANDARD.encode(value)));
        Self { space, key: Cow::Borrowed(key), text, base64, until }
    }

    /// The entry, checked as a commit would be; or what is wrong with it.
    pub(crate) fn record(self) -> Result<Record, String> {
        let space = space(&self.space).ok_or("`space` must be \"shared\" or 64 hexadecimal digits")?;
        let value = match (self.text, self.base64) {
            (Some(text), None) => text.into_owned().into_bytes(),
            (None, Some(code)) => BASE64_STANDARD
                .decode(code.as_bytes())
                .map_err(|error| format!("`base64` is none: {error}"))?,
            _ => return Err("it must have `text` or `base64`, and not both".to_owned()),
        };
        let key = self.key.into_owned();
        limits::key(&key).and_then(|()| limits::value(&key, &value)).map_err(|error| error.to_string())?;
        Ok(Record { space, key, value, until: self.until })
    }
}

fn space(text: &str) -> Option<Space> {
    if text == SHARED {
        return Some(Space::Shared);
    }
    let digits = text.bytes().map(|byte| (byte as char).to_digit(16).map(|digit| digit as u8));
    let digits = digits.collect::<Option<Vec<_>>>().filter(|digits| digits.len() == 64)?;
    let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    bytes.try_into().ok().map(Space::Caller)
}
