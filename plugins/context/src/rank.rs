//! One ranked list of all candidates, without duplicates.

use std::collections::BTreeSet;

use crate::{
    source::{Candidate, SOURCES},
    text::is_common,
};

/// Share of common words above which two texts are duplicates.
const ALIKE: f32 = 0.9;
/// Maximum number of suggestions: a person picks from them.
const MOST: usize = 40;
/// Maximum number of duplicates that are named with an item.
const ALSO: usize = 3;
/// Contribution of a list's first rank to a fusion, in two lists: by words, and by the source's own order.
const BEST: f32 = 2.0 / 61.0;
/// A candidate in the ranked list.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    pub candidate: Candidate,
    /// From 0 to 1; comparable within this list.
    pub score: f32,
    /// Ids of items with the same text.
    pub also: Vec<String>,
}

/// Ranks candidates by words and by their source's order, best first.
pub fn rank(task: &str, candidates: Vec<Candidate>) -> Vec<Ranked> {
    let relevant = relevant(task, candidates);
    let texts: Vec<String> = relevant.iter().map(compared).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores = ranking::rank(task, &texts);
    let by_score = |mut list: Vec<usize>| {
        list.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        list
    };
    let words = by_score((0..relevant.len()).filter(|at| scores[*at] > 0.0).collect());
    let own = SOURCES.into_iter().map(|source| {
        let own: Vec<usize> = (0..relevant.len()).filter(|at| relevant[*at].source == source).collect();
        if source.is_ranked() { own } else { by_score(own) }
    });
    let lists: Vec<_> = [words].into_iter().chain(own).map(|list| (list, 1.0)).collect();
    let mut ranked: Vec<Ranked> = Vec::new();
    let mut seen: Vec<BTreeSet<String>> = Vec::new();
    for (at, score) in ranking::fuse(&lists) {
        let candidate = &relevant[at];
        let terms: BTreeSet<String> = ranking::terms(main_text(candidate)).into_iter().collect();
        if let Some(same) = seen.iter().position(|other| alike(&terms, other)) {
            let also = &mut ranked[same].also;
            if also.len() < ALSO {
                also.push(candidate.id.clone());
            }
        } else if ranked.len() < MOST {
            ranked.push(Ranked { candidate: candidate.clone(), score: score / BEST, also: Vec::new() });
            seen.push(terms);
        }
    }
    ranked
}

/// Removes rows of sources without a search that share no telling word with the task.
fn relevant(task: &str, candidates: Vec<Candidate>) -> Vec<Candidate> {
    let wanted: BTreeSet<String> = ranking::terms(task).into_iter().filter(|term| !is_common(term)).collect();
    let matches = |candidate: &Candidate| {
        candidate.source.is_ranked()
            || ranking::terms(&compared(candidate)).iter().any(|term| wanted.contains(term))
    };
    candidates.into_iter().filter(matches).collect()
}

fn compared(candidate: &Candidate) -> String {
    [candidate.title.as_str(), "\n", &candidate.text].concat()
}

/// Text of an item; some only have a title.
fn main_text(candidate: &Candidate) -> &str {
    if candidate.text.is_empty() { &candidate.title } else { &candidate.text }
}

fn alike(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let shared = a.intersection(b).count() as f32;
    let all = (a.len() + b.len()) as f32 - shared;
    all > 0.0 && shared / all >= ALIKE
}
