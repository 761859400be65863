//! The state of a test: in memory, with the rules of the real one.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    rc::Rc,
    time::{Duration, SystemTime},
};

use serde::Serialize;

use crate::{
    Effect, Failure, Result, Value, json,
    state::{Change, Entries, Entry, Expect, Operation, Space},
    testing::{Host, current},
};

/// The longest key and the largest value that the host takes, in bytes.
const KEY_LIMIT: usize = 1 << 10;
const VALUE_LIMIT: usize = 1 << 20;
/// Maximum number of entries per read.
const PART: usize = 1000;
/// Maximum number of keys or changes, and of bytes, per operation.
const AT_ONCE: usize = 1000;
const GET_LIMIT: usize = 8 << 20;
const COMMIT_LIMIT: usize = 3 << 20;

/// State of a plugin, for one test or for several hosts of one: `Host::new().store(&store)` grants it.
///
/// ```
/// # use std::time::Duration;
/// # use loggia_sdk::{prelude::*, state::Collection, testing::{Host, Store}};
/// static SEEN: Collection<u32> = Collection::new("seen").until(Duration::from_secs(60));
///
/// let store = Store::new();
/// let host = Host::new().store(&store);
/// host.run(|| SEEN.put("a", &1)).unwrap();
/// assert_eq!(store.value("seen/a"), Some(json!(1)));
///
/// store.advance(Duration::from_secs(61));
/// assert_eq!(host.run(|| SEEN.get("a")), Ok(None));
/// ```
///
/// A clone is the same store.
#[derive(Clone, Default)]
pub struct Store(Rc<RefCell<Kept>>);

#[derive(Default)]
struct Kept {
    /// By caller, `None` for the shared space, and key.
    rows: BTreeMap<(Option<String>, String), Row>,
    revision: u64,
    quota: Option<u64>,
    conflicts: u32,
    commits: u32,
    ahead: Duration,
}

struct Row {
    value: Vec<u8>,
    version: u64,
    until: Option<u64>,
}

impl Store {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the quota for keys and values in bytes.
    #[must_use]
    pub fn quota(self, bytes: u64) -> Self {
        self.0.borrow_mut().quota = Some(bytes);
        self
    }

    /// Makes this many next commits fail with a conflict, as if another host had been faster.
    pub fn conflicts(&self, commits: u32) {
        self.0.borrow_mut().conflicts = commits;
    }

    /// Advances the clock, for expiry.
    pub fn advance(&self, time: Duration) {
        self.0.borrow_mut().ahead += time;
    }

    /// Number of attempted commits.
    pub fn commits(&self) -> u32 {
        self.0.borrow().commits
    }

    /// Writes a value into the shared space, as JSON, past all rules.
    ///
    /// # Panics
    ///
    /// If it cannot be serialised as JSON.
    pub fn put(&self, key: impl Into<String>, value: impl Serialize) {
        let value = serde_json::to_vec(&value).expect("the value can be written as JSON");
        let mut kept = self.0.borrow_mut();
        kept.revision += 1;
        let version = kept.revision;
        kept.rows.insert((None, key.into()), Row { value, version, until: None });
    }

    /// Value of a key in the shared space, if it is JSON.
    pub fn value(&self, key: &str) -> Option<Value> {
        let mut kept = self.0.borrow_mut();
        kept.expire();
        let row = kept.rows.get(&(None, key.to_owned()))?;
        serde_json::from_slice(&row.value).ok()
    }

    /// The keys of the shared space, in order.
    pub fn keys(&self) -> Vec<String> {
        let mut kept = self.0.borrow_mut();
        kept.expire();
        kept.rows.keys().filter(|(caller, _)| caller.is_none()).map(|(_, key)| key.clone()).collect()
    }
}

impl Host {
    /// Grants state. Several hosts may share a store, for example for two callers.
    ///
    /// ```
    /// # use loggia_sdk::{prelude::*, state::Cell, testing::{Host, Store}};
    /// static COLOUR: Cell<String> = Cell::new("colour").in_caller_space();
    ///
    /// let store = Store::new();
    /// let ann = Host::new().store(&store).caller("ann");
    /// let bob = Host::new().store(&store).caller("bob");
    /// ann.run(|| COLOUR.set(&"red".into())).unwrap();
    /// assert_eq!(bob.run(|| COLOUR.get()), Ok(None));
    /// ```
    #[must_use]
    pub fn store(self, store: &Store) -> Self {
        self.with(|host| host.store = Some(store.clone()))
    }
}

impl Kept {
    fn now(&self) -> u64 {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default() + self.ahead;
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }

    /// Removes expired rows.
    fn expire(&mut self) {
        let now = self.now();
        self.rows.retain(|_, row| row.until.is_none_or(|until| until > now));
    }

    fn entry(&self, caller: &Option<String>, key: &str) -> Option<Entry> {
        let row = self.rows.get(&(caller.clone(), key.to_owned()))?;
        Some(Entry::new(key.to_owned(), row.value.clone(), row.version))
    }

    fn commit(&mut self, caller: &Option<String>, changes: Vec<Change>) -> Result<u64> {
        self.commits += 1;
        if changes.len() > AT_ONCE {
            return Err(Failure::invalid_params(format!(
                "{} changes are too many: at most {AT_ONCE} in a commit",
                changes.len()
            )));
        }
        let bytes: usize = changes.iter().map(bytes).sum();
        if bytes > COMMIT_LIMIT {
            return Err(Failure::invalid_params(format!(
                "the commit has {bytes} bytes, and may have {COMMIT_LIMIT}: make several"
            )));
        }
        for (at, change) in changes.iter().enumerate() {
            valid(change)?;
            if changes[..at].iter().any(|other| other.key == change.key) {
                return Err(Failure::invalid_params(format!("`{}` occurs twice in one commit", change.key)));
            }
        }
        if self.conflicts > 0 {
            self.conflicts -= 1;
            return Err(conflict(changes.iter().take(1).map(|change| change.key.as_str()).collect()));
        }
        let holds = |change: &&Change| match (change.expect, self.entry(caller, &change.key)) {
            (Expect::Any, _) | (Expect::Absent, None) => true,
            (Expect::Version(version), Some(entry)) => entry.version == version,
            _ => false,
        };
        let moved: Vec<&str> =
            changes.iter().filter(|change| !holds(change)).map(|change| change.key.as_str()).collect();
        if !moved.is_empty() {
            return Err(conflict(moved));
        }
        self.fits(caller, &changes)?;
        self.revision += 1;
        let version = self.revision;
        for Change { key, operation, .. } in changes {
            let key = (caller.clone(), key);
            match operation {
                Operation::Check => {}
                Operation::Put(value) => drop(self.rows.insert(key, Row { value, version, until: None })),
                Operation::PutUntil(value, until) => {
                    self.rows.insert(key, Row { value, version, until: Some(until) });
                }
                Operation::Delete => drop(self.rows.remove(&key)),
            }
        }
        Ok(version)
    }

    fn fits(&self, caller: &Option<String>, changes: &[Change]) -> Result<()> {
        let Some(quota) = self.quota else { return Ok(()) };
        let size = |key: &str, value: &[u8]| (key.len() + value.len()) as u64;
        let touched = |row: &(Option<String>, String)| {
            row.0 == *caller && changes.iter().any(|change| change.key == row.1)
        };
        let stays =
            self.rows.iter().filter(|(key, _)| !touched(key)).map(|((_, key), row)| size(key, &row.value));
        let becomes = changes.iter().map(|change| match &change.operation {
            Operation::Put(value) | Operation::PutUntil(value, _) => size(&change.key, value),
            Operation::Check => {
                self.entry(caller, &change.key).map_or(0, |entry| size(&change.key, &entry.value))
            }
            Operation::Delete => 0,
        });
        let needed: u64 = stays.chain(becomes).sum();
        if needed > quota {
            return Err(Failure::unavailable(format!(
                "no space left: the state would take {needed} of {quota} bytes"
            ))
            .hint("The operator sets `[grants] store = { quota = … }` in the plugin's policy file."));
        }
        Ok(())
    }
}

fn valid(change: &Change) -> Result<()> {
    if change.key.is_empty() || change.key.len() > KEY_LIMIT {
        return Err(Failure::invalid_params(format!("a key has 1 to {KEY_LIMIT} bytes")));
    }
    match &change.operation {
        Operation::Put(value) | Operation::PutUntil(value, _) if value.len() > VALUE_LIMIT => {
            Err(Failure::invalid_params(format!("a value has at most {VALUE_LIMIT} bytes")))
        }
        _ => Ok(()),
    }
}

/// Size that counts towards a commit's limit.
fn bytes(change: &Change) -> usize {
    let value = match &change.operation {
        Operation::Put(value) | Operation::PutUntil(value, _) => value.len(),
        Operation::Delete | Operation::Check => 0,
    };
    change.key.len() + value
}

fn conflict(keys: Vec<&str>) -> Failure {
    Failure::conflict(format!("the state has changed: {}", keys.join(", "))).details(json!({"keys": keys}))
}

/// The granted store, and the caller of the space.
fn granted(space: Space) -> Result<(Store, Option<String>)> {
    let (store, caller) = current(|host| (host.store.clone(), host.caller.clone())).unwrap_or_default();
    let store = store.ok_or_else(|| {
        Failure::denied("access denied: the policy does not grant `store`")
            .hint("The operator grants it in the plugin's policy file: `[grants] store = true`.")
    })?;
    match (space, caller) {
        (Space::Shared, _) => Ok((store, None)),
        (Space::Caller, Some(caller)) => Ok((store, Some(caller))),
        (Space::Caller, None) => Err(Failure::denied("access denied: this caller has no state of its own")),
    }
}

pub(super) fn get(space: Space, keys: Vec<String>) -> Result<Vec<Option<Entry>>> {
    let (store, caller) = granted(space)?;
    let mut kept = store.0.borrow_mut();
    kept.expire();
    if keys.len() > AT_ONCE {
        return Err(Failure::invalid_params(format!(
            "{} keys are too many: at most {AT_ONCE} at once",
            keys.len()
        )));
    }
    let found: Vec<Option<Entry>> = keys.iter().map(|key| kept.entry(&caller, key)).collect();
    if found.iter().flatten().map(|entry| entry.value.len()).sum::<usize>() > GET_LIMIT {
        return Err(Failure::invalid_params(format!(
            "these keys have values of more than {GET_LIMIT} bytes: get fewer at once"
        )));
    }
    Ok(found)
}

pub(super) fn scan(
    space: Space,
    prefix: &str,
    after: Option<&str>,
    limit: u32,
    at: Option<u64>,
) -> Result<Entries> {
    let (store, caller) = granted(space)?;
    let mut kept = store.0.borrow_mut();
    kept.expire();
    if at.is_some_and(|at| at != kept.revision) {
        return Err(Failure::conflict("the state has changed since the scan began"));
    }
    let wanted = |key: &str| key.starts_with(prefix) && after.is_none_or(|after| key > after);
    let rows = kept.rows.iter().filter(|((whose, key), _)| *whose == caller && wanted(key));
    let mut items: Vec<Entry> =
        rows.map(|((_, key), row)| Entry::new(key.clone(), row.value.clone(), row.version)).collect();
    let limit = usize::try_from(limit).unwrap_or(PART).min(PART);
    let more = items.len() > limit;
    items.truncate(limit);
    Ok(Entries::new(items, more, kept.revision))
}

pub(super) fn commit(space: Space, changes: Vec<Change>) -> Result<u64> {
    if current(|host| host.effect) == Some(Some(Effect::Read)) {
        return Err(Failure::denied("access denied: a read action may not change the state"));
    }
    let (store, caller) = granted(space)?;
    let mut kept = store.0.borrow_mut();
    kept.expire();
    kept.commit(&caller, changes)
}

/// Milliseconds since 1970, by the clock of the test's store.
pub(super) fn now() -> u64 {
    let store = current(|host| host.store.clone()).flatten().unwrap_or_default();
    store.0.borrow().now()
}
