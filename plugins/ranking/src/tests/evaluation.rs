//! Does meaning find what words do not? Rankings of whole sets of queries, whose right answers are known.
//!
//! A set is a folder with `items.txt` (`id|text|…`) and `queries.txt` (`id,…|query`: the ids of the right items). Those in
//! `evaluation/` are ours. Sets that may not be distributed are read from the folder that `RANKING_SETS` names. The README has
//! their figures, and says how they were made.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
};

use loggia_sdk::{prelude::*, state, testing::Store};
use ranking_words::terms;

use super::Host;
use crate::{Index, Mode, Vectors, find};

static INDEX: Index = Index::new("words");
static VECTORS: Vectors = Vectors::new("vectors");

const MODES: [(&str, Mode); 3] = [("words", Mode::Words), ("meaning", Mode::Meaning), ("both", Mode::Hybrid)];

/// Words that say nothing about the subject of a query.
const COMMON: &str = "a about after an and any are at be been before by can could did do does for from had has have he \
    her him his how i if in into is it its may me my no not of on one or our out s she should so t than that the their \
    them then there they this to too until up us very was we were what when where which who why will with would you your";

/// Samples of the bootstrap.
const SAMPLES: usize = 2000;

/// Result of a query: whether the first hit is right, whether one of the first five is, and the reciprocal rank of the
/// first right one of ten.
#[derive(Clone, Copy, Default)]
struct Score {
    first: f32,
    five: f32,
    rank: f32,
}

/// Scores of a query in each mode, and which words it shares with the right item.
struct Outcome {
    kind: &'static str,
    scores: [Score; 3],
}

/// Runs all queries of a set.
fn run(folder: &Path) -> Vec<Outcome> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a set has two files");
    let (items, queries) = (read("items.txt"), read("queries.txt"));
    let items: Vec<(&str, String)> = items
        .lines()
        .map(|line| line.split_once('|').expect("an id and a text"))
        .map(|(id, text)| (id, text.replace('|', "\n")))
        .collect();
    let numbers: BTreeMap<&str, u32> = items.iter().map(|(id, _)| *id).zip(1..).collect();
    let texts: Vec<(u32, &str)> = (1..).zip(items.iter().map(|(_, text)| text.as_str())).collect();
    let host = Host::new().store(&Store::new());
    host.run(|| {
        texts.chunks(200).try_for_each(|texts| {
            state::transaction(|tx| {
                INDEX.add(tx, texts)?;
                VECTORS.follow(tx, texts)
            })
        })
    })
    .unwrap();
    let outcome = |line: &str| {
        let (ids, query) = line.split_once('|').expect("ids and a query");
        let right: BTreeSet<u32> = ids.split(',').map(|id| numbers[id]).collect();
        let scores = MODES.map(|(_, mode)| {
            let hits = find(&INDEX, &VECTORS, query, mode).unwrap().hits;
            let place = hits.iter().take(10).position(|hit| right.contains(&hit.number));
            place.map_or(Score::default(), |place| Score {
                first: f32::from(u8::from(place == 0)),
                five: f32::from(u8::from(place < 5)),
                rank: 1.0 / (place as f32 + 1.0),
            })
        });
        let text = right.first().map(|number| texts[*number as usize - 1].1).unwrap_or_default();
        Outcome { kind: kind(query, text), scores }
    };
    let mut outcomes = Vec::new();
    host.run(|| -> Result<()> {
        outcomes = queries.lines().map(outcome).collect();
        Ok(())
    })
    .unwrap();
    outcomes
}

/// Sorts queries by the share of their words that the right item has.
fn kind(query: &str, text: &str) -> &'static str {
    let common = terms(COMMON);
    let own: BTreeSet<String> = terms(query).into_iter().filter(|term| !common.contains(term)).collect();
    let theirs: BTreeSet<String> = terms(text).into_iter().collect();
    match own.intersection(&theirs).count() as f32 / own.len().max(1) as f32 {
        0.0 => "no shared words",
        share if share < 0.66 => "some shared words",
        _ => "shared words",
    }
}

/// Mean of a sample, and the interval that holds 95 % of the means of samples drawn from it.
fn interval(values: &[f32]) -> (f32, f32, f32) {
    let mean = |sum: f32| sum / values.len() as f32;
    // A linear congruential generator: the same numbers in every run.
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % values.len()
    };
    let mut means: Vec<f32> =
        (0..SAMPLES).map(|_| mean((0..values.len()).map(|_| values[next()]).sum())).collect();
    means.sort_by(f32::total_cmp);
    (mean(values.iter().sum()), means[SAMPLES / 40], means[SAMPLES - 1 - SAMPLES / 40])
}

/// Difference between the reciprocal ranks of a mode and of words alone.
fn difference(outcomes: &[&Outcome], mode: usize) -> (f32, f32, f32) {
    interval(
        &outcomes
            .iter()
            .map(|outcome| outcome.scores[mode].rank - outcome.scores[0].rank)
            .collect::<Vec<_>>(),
    )
}

/// A table of the modes' figures, for all queries and for each kind.
fn table(outcomes: &[Outcome]) -> String {
    let mut lines = vec![
        "| queries | by | hit@1 | hit@5 | MRR@10 | beside words, 95 % |".to_owned(),
        "|---|---|---:|---:|---:|---:|".to_owned(),
    ];
    for kind in ["all", "shared words", "some shared words", "no shared words"] {
        let chosen: Vec<&Outcome> =
            outcomes.iter().filter(|outcome| kind == "all" || outcome.kind == kind).collect();
        for (mode, (name, _)) in MODES.iter().enumerate().filter(|_| !chosen.is_empty()) {
            let mean = |of: fn(&Score) -> f32| {
                chosen.iter().map(|outcome| of(&outcome.scores[mode])).sum::<f32>() / chosen.len() as f32
            };
            let (by, low, high) = difference(&chosen, mode);
            let beside = if mode == 0 { String::new() } else { format!("{by:+.3} [{low:+.3}, {high:+.3}]") };
            let label = if mode == 0 { format!("{kind}, {}", chosen.len()) } else { String::new() };
            lines.push(format!(
                "| {label} | {name} | {:.3} | {:.3} | {:.3} | {beside} |",
                mean(|score| score.first),
                mean(|score| score.five),
                mean(|score| score.rank)
            ));
        }
    }
    lines.join("\n")
}

fn own(set: &str) -> Vec<Outcome> {
    run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("evaluation").join(set))
}

#[test]
fn meaning_and_words_find_more_than_words() {
    let outcomes = own("english");
    insta::assert_snapshot!(table(&outcomes));
    let all: Vec<&Outcome> = outcomes.iter().collect();
    assert!(difference(&all, 2).1 > 0.05, "both are not clearly better than words alone");
    let shared: Vec<&Outcome> = all.into_iter().filter(|outcome| outcome.kind == "shared words").collect();
    assert!(difference(&shared, 2).0 > -0.02, "both are worse where words would do");
}

#[test]
fn other_languages_lose_nothing() {
    let outcomes = own("german");
    assert!(difference(&outcomes.iter().collect::<Vec<_>>(), 2).0 > -0.02, "{}", table(&outcomes));
}

#[test]
#[ignore = "needs RANKING_SETS, a folder of sets that are not distributed here"]
#[allow(clippy::print_stdout, reason = "its output is the result")]
fn other_sets_are_evaluated() {
    let folder = env::var_os("RANKING_SETS").expect("RANKING_SETS names a folder");
    // Conversations of one collection are searched one by one, and counted together: `locomo-3` belongs to `locomo`.
    let mut collections: BTreeMap<String, Vec<Outcome>> = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-').to_owned();
        collections.entry(name).or_default().extend(run(&path));
    }
    for (name, outcomes) in collections {
        println!("{name}\n\n{}\n", table(&outcomes));
    }
}
