//! Limits of one request. Each bounds the host's memory, or how long a commit keeps others waiting.

use std::collections::HashSet;

use crate::{ChangeOperation, StateChange, StateError};

/// Bytes of a key, at most. A longer one would fill the index's pages.
pub const KEY_BYTES: usize = 1024;
/// Bytes of a value, at most.
pub const VALUE_BYTES: usize = 1024 * 1024;
/// Keys of one `get`, at most.
pub const GET_KEYS: usize = 1000;
/// Bytes of all values that one `get` answers, at most: the host holds them before the guest does.
pub const GET_BYTES: usize = 8 * 1024 * 1024;
/// Changes of one commit, at most. Others wait while it is written.
pub const COMMIT_CHANGES: usize = 1000;
/// Bytes of all keys and values of one commit, at most: it stays in the log as a whole. Less than the sandbox lets a guest pass
/// in one call, so that the plugin gets this error rather than a fault.
pub const COMMIT_BYTES: usize = 3 * 1024 * 1024;
/// Entries of a page, at most.
pub const PAGE_ENTRIES: u32 = 1000;
/// Bytes of keys and values of a page, at most, unless its first entry alone has more.
pub const PAGE_BYTES: usize = 1024 * 1024;
/// Bytes that an entry counts for the quota in addition to its key and value: its row, and its place in the index.
pub const OVERHEAD: u64 = 128;

/// Returns true if a text may name a store.
pub(crate) fn is_store_name(name: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
    name.len() <= 32 && name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(rest)
}

/// Returns the bytes that an entry counts for the quota.
pub fn size(key: &str, value: &[u8]) -> u64 {
    (key.len() + value.len()) as u64 + OVERHEAD
}

/// Checks a key that names an entry.
pub(crate) fn check_key(key: &str) -> Result<(), StateError> {
    if key.is_empty() {
        return Err(invalid("a key is empty"));
    }
    check_bound(key, "a key")
}

/// Checks a value.
pub(crate) fn check_value(key: &str, value: &[u8]) -> Result<(), StateError> {
    if value.len() > VALUE_BYTES {
        let message = format!("the value of `{key}` has {} bytes, and may have {VALUE_BYTES}", value.len());
        return Err(StateError::Invalid(message));
    }
    Ok(())
}

/// Checks a text that is compared with keys. It may be empty.
pub(crate) fn check_bound(text: &str, what: &str) -> Result<(), StateError> {
    if text.len() > KEY_BYTES {
        let message = format!("{what} has {} bytes, and may have {KEY_BYTES}", text.len());
        return Err(StateError::Invalid(message));
    }
    Ok(())
}

/// Checks the keys of a `get`.
pub(crate) fn check_keys(keys: &[String]) -> Result<(), StateError> {
    if keys.len() > GET_KEYS {
        return Err(StateError::Invalid(format!(
            "{} keys are too many: at most {GET_KEYS} at once",
            keys.len()
        )));
    }
    keys.iter().try_for_each(|key| check_key(key))
}

/// Checks the changes of a commit.
pub(crate) fn check_changes(changes: &[StateChange]) -> Result<(), StateError> {
    if changes.len() > COMMIT_CHANGES {
        let message = format!("{} changes are too many: at most {COMMIT_CHANGES} in a commit", changes.len());
        return Err(StateError::Invalid(message));
    }
    let mut seen = HashSet::with_capacity(changes.len());
    let mut bytes = 0;
    for change in changes {
        check_key(&change.key)?;
        if !seen.insert(change.key.as_str()) {
            return Err(StateError::Invalid(format!("`{}` occurs twice", change.key)));
        }
        bytes += change.key.len();
        if let ChangeOperation::Put(put) | ChangeOperation::PutUntil(put, _) = &change.operation {
            check_value(&change.key, put)?;
            bytes += put.len();
        }
    }
    if bytes > COMMIT_BYTES {
        let message = format!("the commit has {bytes} bytes, and may have {COMMIT_BYTES}: make several");
        return Err(StateError::Invalid(message));
    }
    Ok(())
}

fn invalid(message: &str) -> StateError {
    StateError::Invalid(message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChangeCondition;

    fn put(key: &str, bytes: usize) -> StateChange {
        StateChange {
            key: key.to_owned(),
            expect: ChangeCondition::Any,
            operation: ChangeOperation::Put(vec![0; bytes]),
        }
    }

    #[test]
    fn requests_that_are_too_large_are_refused_with_the_limit() {
        let many: Vec<String> = (0..=GET_KEYS).map(|n| n.to_string()).collect();
        let cases = [
            (check_key("").err(), Some("a key is empty")),
            (check_key(&"k".repeat(1024)).err(), None),
            (check_key(&"é".repeat(513)).err(), Some("a key has 1026 bytes, and may have 1024")),
            (check_keys(&many[1..]).err(), None),
            (check_keys(&many).err(), Some("1001 keys are too many: at most 1000 at once")),
            (check_keys(&[String::new()]).err(), Some("a key is empty")),
            (check_changes(&[put("a", VALUE_BYTES)]).err(), None),
            (
                check_changes(&[put("a", VALUE_BYTES + 1)]).err(),
                Some("the value of `a` has 1048577 bytes, and may have 1048576"),
            ),
            (check_changes(&[put("a", 0), put("b", 0), put("a", 0)]).err(), Some("`a` occurs twice")),
            (
                check_changes(&many.iter().map(|key| put(key, 0)).collect::<Vec<_>>()).err(),
                Some("1001 changes are too many: at most 1000 in a commit"),
            ),
            (
                check_changes(&(0..9).map(|n| put(&n.to_string(), 1_000_000)).collect::<Vec<_>>()).err(),
                Some("the commit has 9000009 bytes, and may have 3145728: make several"),
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(found.map(|error| error.to_string()).as_deref(), expected);
        }
    }
}
