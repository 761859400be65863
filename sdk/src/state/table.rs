//! What collections, cells and counters have in common, whatever the type of their values: names, keys, JSON.
//!
//! Not generic, so that a guest holds it once.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};

use super::{Change, Entry, Operation, Space};
use crate::{Failure, Result, Value, failure::code, host::port};

/// How often something is tried that others keep changing.
pub(super) const ATTEMPTS: u32 = 50;

/// Rows that are asked for at once where all are wanted; the host may give fewer.
const PART: u32 = 500;

/// The longest key that a host takes, in bytes.
const KEY_LIMIT: usize = 1024;

/// Where values are kept, and for how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    pub name: &'static str,
    pub space: Space,
    pub until: Option<Duration>,
}

impl Table {
    /// Without `/` and `#`, which part the name from what follows, no two names can mean the same key.
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

    /// What the keys of all rows begin with whose ids begin with `start`.
    pub fn prefix(&self, start: &str) -> String {
        [self.name, "/", start].concat()
    }

    /// The id of a row.
    pub fn id(&self, key: &str) -> String {
        key.get(self.name.len() + 1..).unwrap_or_default().to_owned()
    }

    /// The key whose version is that of the last write to any row. It is how a transaction that listed the rows learns
    /// that there is a new one.
    pub fn changed(&self) -> String {
        [self.name, "#changed"].concat()
    }

    /// Says in a commit that a row is written.
    pub fn change(&self) -> Change {
        Change::put(self.changed(), Vec::new())
    }

    /// The key of the last id that was given out.
    pub fn last(&self) -> String {
        [self.name, "#last"].concat()
    }

    /// Writes a value, for as long as it is to last.
    pub fn write(&self, value: Vec<u8>) -> Operation {
        let Some(until) = self.until else { return Operation::Put(value) };
        let until = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        Operation::PutUntil(value, port::now().saturating_add(until))
    }

    /// All rows whose ids begin with `start`, all of one moment.
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

    /// There is no such row.
    pub fn missing(&self, id: &str) -> Failure {
        Failure::not_found(format!("not found: there is no `{id}` in {}", self.name))
    }

    /// There is such a row.
    pub fn taken(&self, id: &str) -> Failure {
        Failure::conflict(format!("already exists: there is a `{id}` in {}", self.name))
    }
}

/// Lets the others finish: not at first, then for longer and longer, and each for another time, or those that met once
/// would meet again. Some 1.5 s in all, 3 s at most.
pub(super) fn pause(attempt: u32) {
    // Natively there are no others.
    if cfg!(target_family = "wasm") && attempt > 2 {
        let longest = 1 << attempt.min(6);
        std::thread::sleep(Duration::from_millis(RandomState::new().hash_one(attempt) % longest));
    }
}

/// By way of a [`Value`], as parameters are read: a parser of its own for each type would make the guest larger.
pub(super) fn decode<T: DeserializeOwned>(key: &str, json: &[u8]) -> Result<T> {
    serde_json::from_value(value(key, json)?).map_err(|error| unreadable(key, &error))
}

fn value(key: &str, json: &[u8]) -> Result<Value> {
    let text = std::str::from_utf8(json).unwrap_or_default();
    serde_json::from_str(text).map_err(|error| unreadable(key, &error))
}

pub(super) fn encode<T: Serialize>(key: &str, value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| unwritable(key, &error))
}

fn unreadable(key: &str, error: &serde_json::Error) -> Failure {
    Failure::internal(format!("what is kept under `{key}` cannot be read: {error}"))
        .hint("Another version of the plugin wrote it; a new field needs `#[serde(default)]`.")
}

fn unwritable(key: &str, error: &serde_json::Error) -> Failure {
    Failure::internal(format!("what is to be kept under `{key}` cannot be written: {error}"))
}
