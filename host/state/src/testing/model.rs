//! Random sequences of requests, against a model that is too simple to be wrong.

use std::collections::BTreeMap;

use super::room::*;
use crate::{ChangeCondition, ChangeOperation, OVERHEAD, StateChange, StateError, StateSpace};
use proptest::{
    prelude::*,
    test_runner::{RngSeed, TestRunner},
};

const KEYS: [&str; 8] = ["a", "a\0", "ab", "b", "é", "éa", "\u{10ffff}", "z"];
const SPACES: [StateSpace; 3] =
    [StateSpace::Shared, StateSpace::Caller([0; 32]), StateSpace::Caller([255; 32])];
const QUOTA: u64 = 1000;

#[derive(Debug, Clone)]
enum Step {
    /// Versions are counted back from the latest, so that they are often right.
    Commit(usize, Vec<StateChange>),
    Get(usize, Vec<usize>),
    Scan {
        space: usize,
        prefix: usize,
        after: Option<usize>,
        limit: u32,
        resume: bool,
    },
    Pass(u64),
    Clear,
    Again,
}

/// A value, its version, and until when.
type Kept = (Vec<u8>, u64, Option<u64>);

#[derive(Default)]
struct Model {
    entries: BTreeMap<(usize, &'static str), Kept>,
    written: [u64; 3],
    revision: u64,
    now: u64,
}

impl Model {
    fn live(&self, space: usize, key: &'static str) -> Option<(&[u8], u64)> {
        let (value, version, until) = self.entries.get(&(space, key))?;
        until.is_none_or(|until| until > self.now).then_some((&value[..], *version))
    }

    fn bytes(&self) -> u64 {
        let live =
            self.entries.iter().filter(|(_, (_, _, until))| until.is_none_or(|until| until > self.now));
        live.map(|((_, key), (value, ..))| (key.len() + value.len()) as u64 + OVERHEAD).sum()
    }

    /// Result of the commit, which is applied only if it succeeds.
    fn commit(&mut self, space: usize, changes: &[StateChange]) -> Result<u64, String> {
        let known = |key: &str| *KEYS.iter().find(|known| **known == key).unwrap();
        let failed: Vec<_> = changes
            .iter()
            .filter(|change| {
                let found = self.live(space, known(&change.key)).map(|(_, version)| version);
                match change.expect {
                    ChangeCondition::Any => false,
                    ChangeCondition::Absent => found.is_some(),
                    ChangeCondition::Version(version) => found != Some(version),
                }
            })
            .map(|change| change.key.clone())
            .collect();
        if !failed.is_empty() {
            return Err(format!("the state has changed: {}", failed.join(", ")));
        }
        if changes.iter().all(|change| change.operation == ChangeOperation::Check) {
            return Ok(self.revision);
        }
        let (before, old) = (self.bytes(), self.entries.clone());
        for change in changes {
            let at = (space, known(&change.key));
            match &change.operation {
                ChangeOperation::Check => {}
                ChangeOperation::Put(value) => {
                    drop(self.entries.insert(at, (value.clone(), self.revision + 1, None)))
                }
                ChangeOperation::PutUntil(value, until) => {
                    self.entries.insert(at, (value.clone(), self.revision + 1, Some(*until)));
                }
                ChangeOperation::Delete => drop(self.entries.remove(&at)),
            }
        }
        let after = self.bytes();
        if after > before && after > QUOTA {
            self.entries = old;
            return Err(format!("the state would take {after} bytes, and may take {QUOTA}"));
        }
        self.revision += 1;
        self.written[space] = self.revision;
        Ok(self.revision)
    }
}

fn changes() -> impl Strategy<Value = Vec<StateChange>> {
    let expect = prop_oneof![
        6 => Just(ChangeCondition::Any),
        1 => Just(ChangeCondition::Absent),
        2 => (0u64..6).prop_map(ChangeCondition::Version),
    ];
    let value = || (0usize..200).prop_map(|bytes| vec![7; bytes]);
    let operation = prop_oneof![
        1 => Just(ChangeOperation::Check),
        3 => value().prop_map(ChangeOperation::Put),
        2 => (value(), 0u64..40).prop_map(|(value, after)| ChangeOperation::PutUntil(value, after)),
        2 => Just(ChangeOperation::Delete),
    ];
    prop::collection::btree_map(0..KEYS.len(), (expect, operation), 0..5).prop_map(|changes| {
        changes.into_iter().map(|(key, (expect, operation))| change(KEYS[key], expect, operation)).collect()
    })
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..KEYS.len();
    prop_oneof![
        8 => (0..3usize, changes()).prop_map(|(space, changes)| Step::Commit(space, changes)),
        2 => (0..3usize, prop::collection::vec(key.clone(), 0..6)).prop_map(|(space, keys)| Step::Get(space, keys)),
        4 => (0..3usize, 0..4usize, prop::option::of(key), 1..5u32, any::<bool>())
            .prop_map(|(space, prefix, after, limit, resume)| Step::Scan { space, prefix, after, limit, resume }),
        2 => (0..20u64).prop_map(Step::Pass),
        1 => Just(Step::Clear),
        1 => Just(Step::Again),
    ]
}

fn run(room: &Room, steps: Vec<Step>) {
    let mut store = room.folder.store("notes", QUOTA).unwrap();
    // The counter of a new file begins with the clock.
    let mut model = Model { now: START, ..Model::default() };
    let start = store.commit(StateSpace::Shared, vec![delete("a")]).unwrap();
    (model.revision, model.written) = (start, [start, start - 1, start - 1]);
    let mut last_scan = start;
    for step in steps {
        match step {
            Step::Commit(space, mut changes) => {
                for change in &mut changes {
                    if let ChangeCondition::Version(back) = &mut change.expect {
                        *back = model.revision - *back;
                    }
                    if let ChangeOperation::PutUntil(_, until) = &mut change.operation {
                        *until += model.now;
                    }
                }
                let expected = model.commit(space, &changes);
                let found = store.commit(SPACES[space], changes).map_err(|error| error.to_string());
                assert_eq!(found, expected);
            }
            Step::Get(space, keys) => {
                let keys: Vec<_> = keys.into_iter().map(|key| KEYS[key]).collect();
                let asked: Vec<_> = keys.iter().map(|key| (*key).to_owned()).collect();
                let found = store.get(SPACES[space], &asked).unwrap();
                for (key, found) in keys.into_iter().zip(found) {
                    let found = found.as_ref().map(|found| (&found.key[..], &found.value[..], found.version));
                    assert_eq!(found, model.live(space, key).map(|(value, version)| (key, value, version)));
                }
            }
            Step::Scan { space, prefix, after, limit, resume } => {
                let prefix = ["", "a", "é", "x"][prefix];
                let after = after.map(|after| KEYS[after]);
                let at = resume.then_some(last_scan);
                match store.scan(SPACES[space], prefix, after, limit, at) {
                    // It may have moved without being written to if it has no entries.
                    Err(StateError::Moved) => {
                        let empty = !model.entries.keys().any(|(owner, _)| *owner == space)
                            || KEYS.iter().all(|key| model.live(space, key).is_none());
                        assert!(resume && (model.written[space] > last_scan || empty));
                    }
                    Err(other) => panic!("{other}"),
                    Ok(page) => {
                        assert!(at.is_none_or(|at| model.written[space] <= at));
                        let mut keys: Vec<_> =
                            KEYS.into_iter().filter(|key| model.live(space, key).is_some()).collect();
                        keys.sort_unstable();
                        keys.retain(|key| key.starts_with(prefix) && after.is_none_or(|after| *key > after));
                        let more = keys.len() > limit as usize;
                        keys.truncate(limit as usize);
                        let found: Vec<_> = page.items.iter().map(|entry| &entry.key[..]).collect();
                        assert_eq!((found, page.more, page.revision), (keys, more, model.revision));
                        last_scan = page.revision;
                    }
                }
            }
            Step::Pass(ms) => {
                room.pass(ms);
                model.now += ms;
            }
            Step::Clear => {
                store.clear().unwrap();
                model.entries.clear();
                model.revision += 1;
                model.written = [model.revision; 3];
            }
            Step::Again => {
                drop(store);
                store = room.folder.store("notes", QUOTA).unwrap();
            }
        }
        assert_eq!(store.usage().unwrap().bytes, model.bytes());
    }
}

fn config() -> ProptestConfig {
    let told = std::env::var_os("PROPTEST_CASES").is_some();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if told { config } else { ProptestConfig { cases: 40, rng_seed: RngSeed::Fixed(17), ..config } }
}

/// A store answers as the model does. Each commit waits for the disk, so there are not many cases, but long ones. With
/// PROPTEST_CASES they are random ones, as many as it says.
pub fn a_store_does_what_the_model_does(room: RoomSource<'_>) {
    let all = prop::collection::vec(step(), 1..60);
    let tested = TestRunner::new(config()).run(&all, |steps| {
        run(&room(), steps);
        Ok(())
    });
    if let Err(error) = tested {
        panic!("{error}");
    }
}
