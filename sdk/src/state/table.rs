//! Common base of collections, cells and counters, independent of the values' type: names, keys, JSON.
//!
//! Not generic, so that a guest contains it once.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};

use super::port;
use super::{Change, Entry, Operation, Space};
use crate::{Failure, Result, Value, failure::code, json_text};

/// Maximum number of attempts on conflicts.
pub(super) const ATTEMPTS: u32 = 50;

/// Number of rows per read of a full list; the host may return fewer.
const PART: u32 = 500;

/// The longest key that a host takes, in bytes.
const KEY_LIMIT: usize = 1024;

/// Location and time to live of values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    pub name: &'static str,
    pub space: Space,
    pub until: Option<Duration>,
}

impl Table {
    /// Names without `/` and `#`, which separate the name from the rest, keep keys unambiguous.
    pub const fn new(name: &'static str) -> Self {
        let bytes = name.as_bytes();
        assert!(!bytes.is_empty() && bytes.len() <= 64, "the name has 1 to 64 bytes");
        let mut at = 0;
        while at < bytes.len() {
            assert!(bytes[at] != b'/' && bytes[at] != b'#', "the name holds no `/` and no `#`");
            at += 1;
        }
        Self { name, space: Space::Shared, until: None }
    }

    pub const fn in_caller_space(self) -> Self {
        Self { space: Space::Caller, ..self }
    }

    pub const fn until(self, time: Duration) -> Self {
        Self { until: Some(time), ..self }
    }

    /// The key of a row.
    pub fn key(&self, id: &str) -> Result<String> {
        if id.is_empty() {
            return Err(Failure::invalid_params("an id is not empty"));
        }
        let key = self.prefix(id);
        if key.len() > KEY_LIMIT {
            return Err(Failure::invalid_params(format!("the id is too long: {} bytes", id.len())));
        }
        Ok(key)
    }

    /// Key prefix of all rows whose ids start with `start`.
    pub fn prefix(&self, start: &str) -> String {
        [self.name, "/", start].concat()
    }

    /// The id of a row.
    pub fn id(&self, key: &str) -> String {
        key.get(self.name.len() + 1..).unwrap_or_default().to_owned()
    }

    /// Key whose version is that of the last write to any row. It tells a transaction that listed the rows about new
    /// ones.
    pub fn changed(&self) -> String {
        [self.name, "#changed"].concat()
    }

    /// Marks in a commit that a row is written.
    pub fn change(&self) -> Change {
        Change::put(self.changed(), Vec::new())
    }

    /// The key of the last id that was given out.
    pub fn last(&self) -> String {
        [self.name, "#last"].concat()
    }

    /// Operation that writes a value with the time to live.
    pub fn write(&self, value: Vec<u8>) -> Operation {
        let Some(until) = self.until else { return Operation::Put(value) };
        let until = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        Operation::PutUntil(value, port::now().saturating_add(until))
    }

    /// Reads all rows whose ids start with `start`, in one snapshot.
    pub fn all(&self, start: &str) -> Result<Vec<Entry>> {
        let prefix = self.prefix(start);
        let mut attempt = 1;
        loop {
            match self.parts(&prefix) {
                Err(failure) if failure.code == code::CONFLICT && attempt < ATTEMPTS => pause(attempt),
                rows => return rows,
            }
            attempt += 1;
        }
    }

    fn parts(&self, prefix: &str) -> Result<Vec<Entry>> {
        let mut rows: Vec<Entry> = Vec::new();
        let mut at = None;
        loop {
            let after = rows.last().map(|row| row.key.as_str());
            let part = self.space.scan(prefix, after, PART, at)?;
            let more = part.more && !part.items.is_empty();
            at = Some(part.revision);
            rows.extend(part.items);
            if !more {
                return Ok(rows);
            }
        }
    }

    /// Failure for a missing row.
    pub fn missing(&self, id: &str) -> Failure {
        Failure::not_found(format!("not found: there is no `{id}` in {}", self.name))
    }

    /// Failure for an existing row.
    pub fn taken(&self, id: &str) -> Failure {
        Failure::conflict(format!("already exists: there is a `{id}` in {}", self.name))
    }
}

/// Backs off after a conflict: exponentially and with jitter, or the same calls would collide again. About 1.5 s in
/// total, 3 s at most.
pub(super) fn pause(attempt: u32) {
    // In native tests there are no concurrent hosts.
    if cfg!(target_family = "wasm") && attempt > 2 {
        let longest = 1 << attempt.min(6);
        std::thread::sleep(Duration::from_millis(RandomState::new().hash_one(attempt) % longest));
    }
}

/// Through a [`Value`], as for parameters: a parser for each type would make the guest larger.
pub(super) fn decode<T: DeserializeOwned>(key: &str, json: &[u8]) -> Result<T> {
    serde_json::from_value(value(key, json)?).map_err(|error| unreadable(key, &error))
}

fn value(key: &str, json: &[u8]) -> Result<Value> {
    let text = std::str::from_utf8(json).unwrap_or_default();
    serde_json::from_str(text).map_err(|error| unreadable(key, &error))
}

pub(super) fn encode<T: Serialize>(key: &str, value: &T) -> Result<Vec<u8>> {
    json_text::to_vec(value).map_err(|error| unwritable(key, &error))
}

fn unreadable(key: &str, error: &serde_json::Error) -> Failure {
    Failure::internal(format!("the value of `{key}` cannot be read: {error}"))
        .hint("Another version of the plugin wrote it; a new field needs `#[serde(default)]`.")
}

fn unwritable(key: &str, error: &json_text::Error) -> Failure {
    Failure::internal(format!("the value for `{key}` cannot be written: {error}"))
}
