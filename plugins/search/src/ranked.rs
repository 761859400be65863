//! `hybrid` and `semantic`: one ranked list over all sources.

use std::collections::{BTreeMap, BTreeSet};

use loggia_sdk::prelude::*;
use ranking::{Embedder, Vector, fuse};

use crate::{
    found::Found,
    gather::{Gathered, gather, reasons},
    source::{Candidate, SOURCES},
};

/// Minimum number of hits per source: the best of one list may be further down in another.
const LEAST: usize = 25;
/// Candidates compared by meaning: with the query, two requests to the endpoint.
const MEANT: usize = 63;
/// Maximum number of parts of one item (lines of a file, messages of a conversation).
const PARTS: usize = 3;
/// Share of common words above which two texts count as duplicates.
const ALIKE: f32 = 0.9;
/// Weight of the order by the built-in model's meaning, relative to that of the others.
const BUILT_IN: f32 = 0.5;
/// Contribution of a list's first rank to a fusion.
const FIRST: f32 = 1.0 / 61.0;

/// Ranks by words, by each source's own order and by meaning.
pub fn hybrid(
    query: &str,
    sources: Option<&[crate::Source]>,
    limit: usize,
    detail: Detail,
) -> Result<Reply<Vec<Found>>> {
    let embedder = Embedder::configured()?;
    let mut gathered = gather(query, sources, limit.max(LEAST))?;
    let mut lists = by_words(query, &gathered.candidates);
    let mut most = 2.0;
    let best: Vec<usize> = fuse(&lists).into_iter().map(|(at, _)| at).take(MEANT).collect();
    match by_meaning(&embedder, query, &gathered.candidates, &best) {
        Ok(meant) => {
            let share = if embedder.is_built_in() { BUILT_IN } else { 1.0 };
            lists.push((meant.into_iter().map(|(at, _)| at).collect(), share));
            most += share;
        }
        Err(failure) => gathered.passed_over.push(("meaning", failure.message.clone())),
    }
    let fused: Vec<(usize, f32)> =
        fuse(&lists).into_iter().map(|(at, score)| (at, score / (most * FIRST))).collect();
    Ok(reply(query, &gathered, fused, limit, detail))
}

/// Ranks by meaning only, on one scale for all sources.
pub fn semantic(
    query: &str,
    sources: Option<&[crate::Source]>,
    limit: usize,
    detail: Detail,
) -> Result<Reply<Vec<Found>>> {
    let embedder = Embedder::configured()?;
    let gathered = gather(query, sources, limit.max(LEAST))?;
    let lists = by_words(query, &gathered.candidates);
    let best: Vec<usize> = fuse(&lists).into_iter().map(|(at, _)| at).take(MEANT).collect();
    let meant = by_meaning(&embedder, query, &gathered.candidates, &best)?;
    Ok(reply(query, &gathered, meant, limit, detail))
}

/// One list of all by their words, and the own list of each source that has one. Each candidate is in at least one.
fn by_words(query: &str, candidates: &[Candidate]) -> Vec<(Vec<usize>, f32)> {
    let texts: Vec<String> = candidates.iter().map(compared).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores = ranking::rank(query, &texts);
    let mut words: Vec<usize> = (0..candidates.len()).filter(|at| scores[*at] > 0.0).collect();
    words.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let of = |source| (0..candidates.len()).filter(move |at| candidates[*at].source == source);
    let own = SOURCES.into_iter().map(|source| {
        let mut own: Vec<usize> = of(source).collect();
        if !source.is_ranked() {
            own.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        }
        own
    });
    let own: Vec<Vec<usize>> = own.collect();
    [words].into_iter().chain(own).filter(|list| !list.is_empty()).map(|list| (list, 1.0)).collect()
}

/// These candidates by meaning, best first.
fn by_meaning(
    embedder: &Embedder,
    query: &str,
    candidates: &[Candidate],
    chosen: &[usize],
) -> Result<Vec<(usize, f32)>> {
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let texts: Vec<String> = chosen.iter().map(|at| compared(&candidates[*at])).collect();
    let texts: Vec<&str> = [query].into_iter().chain(texts.iter().map(String::as_str)).collect();
    let vectors = embedder.embed(&texts)?;
    let [query, vectors @ ..] = vectors.as_slice() else { return Ok(Vec::new()) };
    let cosine = |vector: &Vector| query.cosine(vector).max(0.0);
    let mut meant: Vec<(usize, f32)> = chosen.iter().copied().zip(vectors.iter().map(cosine)).collect();
    meant.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(meant)
}

/// Text of a candidate for comparison.
fn compared(candidate: &Candidate) -> String {
    [candidate.title.as_str(), &candidate.text].join("\n")
}

/// Builds the reply with the best candidates, without duplicate texts.
fn reply(
    query: &str,
    gathered: &Gathered,
    ranked: Vec<(usize, f32)>,
    limit: usize,
    detail: Detail,
) -> Reply<Vec<Found>> {
    let chosen = choose(&gathered.candidates, ranked, limit);
    let next = chosen.first().map(|(candidate, ..)| candidate.open.clone().reason("to open the first"));
    let found: Vec<Found> = chosen
        .into_iter()
        .map(|(candidate, score, also)| Found::new(candidate, also, score, query, detail))
        .collect();
    let mut said = Vec::new();
    if found.is_empty() {
        said.push("Nothing was found: other words may be there.".to_owned());
    }
    if !gathered.passed_over.is_empty() {
        said.push(format!("Passed over: {}.", reasons(&gathered.passed_over)));
    }
    let mut reply = Reply::new(found);
    reply.next = next;
    reply.message = (!said.is_empty()).then(|| said.join(" "));
    reply
}

/// A candidate, its score, and other locations of its text.
type Chosen<'c> = (&'c Candidate, f32, Vec<String>);

/// Selects the best, with few parts of each item, and near-identical texts once.
fn choose(candidates: &[Candidate], ranked: Vec<(usize, f32)>, limit: usize) -> Vec<Chosen<'_>> {
    let mut chosen: Vec<Chosen<'_>> = Vec::new();
    let mut words: Vec<BTreeSet<String>> = Vec::new();
    let mut parts: BTreeMap<(crate::Source, &str), usize> = BTreeMap::new();
    for (at, score) in ranked {
        let candidate = &candidates[at];
        let own: BTreeSet<String> = ranking::terms(shown(candidate)).into_iter().collect();
        if let Some(same) = words.iter().position(|other| alike(&own, other)) {
            let also = &mut chosen[same].2;
            let mut place = [candidate.source.name(), " ", &candidate.id].concat();
            if !candidate.place.is_empty() {
                place = [&place, ", ", &candidate.place].concat();
            }
            if also.len() < PARTS && !also.contains(&place) {
                also.push(place);
            }
            continue;
        }
        let part = parts.entry((candidate.source, &candidate.id)).or_default();
        *part += 1;
        if chosen.len() == limit || *part > PARTS {
            continue;
        }
        chosen.push((candidate, score, Vec::new()));
        words.push(own);
    }
    chosen
}

/// Text to show; a memory may only have a title.
fn shown(candidate: &Candidate) -> &str {
    if candidate.text.is_empty() { &candidate.title } else { &candidate.text }
}

fn alike(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let shared = a.intersection(b).count() as f32;
    let all = (a.len() + b.len()) as f32 - shared;
    all > 0.0 && shared / all >= ALIKE
}
