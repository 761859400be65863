//! Stores of a test, and requests in few words.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::{
    ChangeCondition, ChangeOperation, StateChange, StateClock, StateEntry, StateError, StateFolder,
    StateSpace, StateStore,
};
/// More than any test writes.
pub const AMPLE: u64 = 64 * 1024 * 1024;
/// When the clock of a test begins.
pub const START: u64 = 1_800_000_000_000;

/// Stores of its own, with a clock that only the test moves.
pub struct Room {
    pub folder: StateFolder,
    pub clock: Arc<AtomicU64>,
    /// Dropped with it.
    pub kept: Box<dyn Send>,
}

/// Makes a room.
pub type RoomSource<'a> = &'a dyn Fn() -> Room;

/// A clock that a test moves.
pub fn clock() -> (Arc<AtomicU64>, StateClock) {
    let clock = Arc::new(AtomicU64::new(START));
    let told = Arc::clone(&clock);
    (clock, Arc::new(move || told.load(Ordering::Relaxed)))
}

impl Room {
    pub fn store(&self) -> StateStore {
        self.folder.store("notes", AMPLE).unwrap()
    }

    pub fn pass(&self, ms: u64) {
        self.clock.fetch_add(ms, Ordering::Relaxed);
    }
}

pub fn change(key: &str, expect: ChangeCondition, operation: ChangeOperation) -> StateChange {
    StateChange { key: key.to_owned(), expect, operation }
}

pub fn put(key: &str, value: impl AsRef<[u8]>) -> StateChange {
    change(key, ChangeCondition::Any, ChangeOperation::Put(value.as_ref().to_vec()))
}

pub fn put_until(key: &str, value: impl AsRef<[u8]>, until: u64) -> StateChange {
    change(key, ChangeCondition::Any, ChangeOperation::PutUntil(value.as_ref().to_vec(), until))
}

pub fn delete(key: &str) -> StateChange {
    change(key, ChangeCondition::Any, ChangeOperation::Delete)
}

pub fn check(key: &str, expect: ChangeCondition) -> StateChange {
    change(key, expect, ChangeOperation::Check)
}

/// The shared entry of a key.
pub fn get(store: &StateStore, key: &str) -> Option<StateEntry> {
    store.get(StateSpace::Shared, &[key.to_owned()]).unwrap().remove(0)
}

/// The shared value of a key, as text.
pub fn text(store: &StateStore, key: &str) -> Option<String> {
    get(store, key).map(|entry| String::from_utf8(entry.value).unwrap())
}

/// All shared keys.
pub fn keys(store: &StateStore) -> Vec<String> {
    let page = store.scan(StateSpace::Shared, "", None, 1000, None).unwrap();
    assert!(!page.more);
    page.items.into_iter().map(|entry| entry.key).collect()
}

pub fn said<T>(result: Result<T, StateError>) -> String {
    result.err().expect("an error").to_string()
}
