//! Words: the index agrees with [`rank`](crate::rank) of the same texts.

use std::collections::BTreeMap;

use loggia_sdk::{
    prelude::*,
    testing::{Host, Store},
};
use proptest::prelude::*;

use super::host;
use crate::{Hit, Index, rank};

static INDEX: Index = Index::new("text");

/// Results of the index, by number.
fn found(query: &str) -> BTreeMap<u32, f32> {
    INDEX.search(query).unwrap().into_iter().map(|hit| (hit.number, hit.score)).collect()
}

/// Expected results.
fn expected(texts: &BTreeMap<u32, String>, query: &str) -> BTreeMap<u32, f32> {
    let at_hand: Vec<&str> = texts.values().map(String::as_str).collect();
    let scores = texts.keys().copied().zip(rank(query, &at_hand));
    scores.filter(|(_, score)| *score > 0.0).collect()
}

fn assert_alike(found: &BTreeMap<u32, f32>, expected: &BTreeMap<u32, f32>) {
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (number, score) in found {
        assert!((score - expected[number]).abs() < 1e-3, "{number}: {score}, not {}", expected[number]);
    }
}

#[derive(Debug, Clone)]
enum Step {
    Put(u32, String),
    Remove(u32),
}

fn step() -> impl Strategy<Value = Step> {
    // Around the border of two blocks.
    let number = prop_oneof![1..6_u32, 254..259_u32];
    let text = proptest::collection::vec(prop_oneof!["red", "fox(es)?", "run(ning)?", "a", "ü"], 0..8);
    prop_oneof![
        3 => (number.clone(), text).prop_map(|(number, words)| Step::Put(number, words.join(" "))),
        1 => number.prop_map(Step::Remove),
    ]
}

fn take(texts: &mut BTreeMap<u32, String>, step: Step) -> Result<()> {
    state::transaction(|tx| match &step {
        Step::Put(number, text) => match texts.get(number) {
            Some(old) => INDEX.replace(tx, *number, old, text),
            None => INDEX.add(tx, &[(*number, text)]),
        },
        Step::Remove(number) => match texts.get(number) {
            Some(old) => INDEX.remove(tx, &[(*number, old)]),
            None => Ok(()),
        },
    })?;
    match step {
        Step::Put(number, text) => drop(texts.insert(number, text)),
        Step::Remove(number) => drop(texts.remove(&number)),
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_index_matches_its_documents_after_any_changes(steps in proptest::collection::vec(step(), 0..40)) {
        host().run(|| {
            let mut texts = BTreeMap::new();
            for step in steps {
                take(&mut texts, step).unwrap();
            }
            for query in ["red", "foxes run", "a ü", "nothing"] {
                assert_alike(&found(query), &expected(&texts, query));
            }
        });
    }
}

#[test]
fn removed_documents_leave_only_totals() {
    let store = Store::new();
    Host::new().store(&store).run(|| {
        let texts = [(1, "one two three"), (300, "two")];
        state::transaction(|tx| INDEX.add(tx, &texts)).unwrap();
        state::transaction(|tx| INDEX.remove(tx, &texts)).unwrap();
    });
    assert_eq!(store.keys(), ["text#totals"]);
}

#[test]
fn results_are_ranked_by_score_then_recency() {
    host().run(|| {
        let texts = [
            (1, "The deployment failed because the disk was full."),
            (2, "Deploy on Mondays."),
            (3, "Music."),
            (4, "Deploy on Mondays."),
        ];
        state::transaction(|tx| INDEX.add(tx, &texts)).unwrap();
        let numbers = |query: &str| -> Vec<u32> {
            INDEX.search(query).unwrap().iter().map(|hit: &Hit| hit.number).collect()
        };
        assert_eq!(numbers("deploying on monday"), [4, 2, 1]);
        assert_eq!(numbers("full disks"), [1]);
        assert_eq!(numbers(""), [0; 0]);
        assert_eq!(numbers("…!"), [0; 0]);
    });
}

#[test]
fn an_empty_index_finds_nothing() {
    host().run(|| assert_eq!(INDEX.search("anything"), Ok(Vec::new())));
}

#[test]
fn an_unreadable_index_is_reported() {
    let store = Store::new();
    store.put("text#totals", 7);
    Host::new().store(&store).run(|| {
        let failure = INDEX.search("anything").unwrap_err();
        assert_eq!((failure.code.as_str(), failure.hint.is_some()), ("internal", true), "{failure}");
    });
}

/// This many unique words of five letters.
fn new_words(from: u32, count: u32) -> String {
    (from..from + count).map(|number| format!("w{number:04x} ")).collect()
}

#[test]
fn long_texts_never_exceed_the_commit_limit() {
    host().run(|| {
        for number in 1..=80 {
            let text = new_words(number * 5000, 5000);
            state::transaction(|tx| INDEX.add(tx, &[(number, &text)])).unwrap();
        }
        let grown = new_words(1_000_000, 5000);
        state::transaction(|tx| INDEX.replace(tx, 7, &new_words(7 * 5000, 5000), &grown)).unwrap();
        let check = |word: u32, number: u32| {
            let hits = INDEX.search(&format!("w{word:04x}")).unwrap();
            assert_eq!(hits.iter().map(|hit| hit.number).collect::<Vec<_>>(), [number], "{word}");
        };
        check(5000, 1);
        check(80 * 5000 + 4999, 80);
        check(1_000_003, 7);
        // A lookup of many words is read in parts.
        let query: String = (1..=32).map(|number| format!("w{:04x} ", 2 * number * 5000 + 17)).collect();
        assert_eq!(INDEX.search(&query).unwrap().len(), 32);
        state::transaction(|tx| INDEX.remove(tx, &[(7, &grown)])).unwrap();
        assert_eq!(INDEX.search("wf4243"), Ok(Vec::new()));
        assert_eq!(INDEX.count(), Ok(79));
    });
}
