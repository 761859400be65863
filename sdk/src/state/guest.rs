//! The state, by the host.

use std::time::SystemTime;

use crate::{
    Result,
    abi::convert::{from_failure, millis},
    bindings::loggia::plugin::state,
    state::{Change, Entries, Entry, Expect, Operation, Space},
};

pub(super) fn get(space: Space, keys: Vec<String>) -> Result<Vec<Option<Entry>>> {
    let entries = state::get(to_space(space), &keys).map_err(from_failure)?;
    Ok(entries.into_iter().map(|entry| entry.map(from_entry)).collect())
}

pub(super) fn scan(
    space: Space,
    prefix: &str,
    after: Option<&str>,
    limit: u32,
    at: Option<u64>,
) -> Result<Entries> {
    let entries = state::scan(to_space(space), prefix, after, limit, at).map_err(from_failure)?;
    let items = entries.items.into_iter().map(from_entry).collect();
    Ok(Entries::new(items, entries.more, entries.revision))
}

pub(super) fn commit(space: Space, changes: Vec<Change>) -> Result<u64> {
    let changes: Vec<_> = changes.into_iter().map(to_change).collect();
    state::commit(to_space(space), &changes).map_err(from_failure)
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map(millis).unwrap_or_default()
}

fn to_space(space: Space) -> state::Space {
    match space {
        Space::Shared => state::Space::Shared,
        Space::Caller => state::Space::Caller,
    }
}

fn from_entry(entry: state::Entry) -> Entry {
    Entry::new(entry.key, entry.value, entry.version)
}

fn to_change(change: Change) -> state::Change {
    let expect = match change.expect {
        Expect::Any => state::Expect::Any,
        Expect::Absent => state::Expect::Absent,
        Expect::Version(version) => state::Expect::Version(version),
    };
    let operation = match change.operation {
        Operation::Check => state::Operation::Check,
        Operation::Put(value) => state::Operation::Put(value),
        Operation::PutUntil(value, until) => state::Operation::PutUntil((value, until)),
        Operation::Delete => state::Operation::Delete,
    };
    state::Change { key: change.key, expect, operation }
}
