//! One list of several.

use std::collections::{BTreeMap, BTreeSet};

use crate::Hit;

/// Constant of reciprocal rank fusion: how little the first ranks differ. (60 is the value of the original paper.)
const FUSION: f32 = 60.0;

/// Minimum similarity relative to the best: something is always the nearest.
const CLOSE: f32 = 0.6;

/// Minimum score, relative to the best, of a hit without any word of the query: exact matches are not followed by
/// whatever else is nearest.
const RELATED: f32 = 0.35;

/// Share of the query's words that the best hit must have to count in full.
const COVERED: f32 = 0.5;

/// Keeps the hits that are close enough to the query: none below `floor`, and none far behind the best.
///
/// ```
/// use ranking::{Hit, close};
/// let hits = vec![Hit { number: 1, score: 0.8 }, Hit { number: 2, score: 0.5 }, Hit { number: 3, score: 0.1 }];
/// assert_eq!(close(hits, 0.0).len(), 2);
/// ```
pub fn close(mut hits: Vec<Hit>, floor: f32) -> Vec<Hit> {
    let best = hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
    hits.retain(|hit| hit.score > 0.0 && hit.score >= floor && hit.score >= CLOSE * best);
    hits
}

/// Merges hits by words and by meaning, best first. `weight` is the share of meaning, from 0 to 1.
///
/// Word scores are scaled to the best one, or to half of `whole`, the score of a text with all words of the query: if
/// the best hit shares only `the` with the query, meaning decides.
///
/// ```
/// use ranking::{Hit, mix};
/// let words = [Hit { number: 1, score: 8.0 }, Hit { number: 2, score: 4.0 }];
/// let meaning = [Hit { number: 2, score: 0.9 }, Hit { number: 3, score: 0.8 }];
/// let order = |whole| mix(&words, whole, &meaning, 0.5).iter().map(|hit| hit.number).collect::<Vec<_>>();
/// assert_eq!(order(10.0), [2, 1, 3]);
/// assert_eq!(order(40.0), [2, 3, 1]);
/// ```
pub fn mix(words: &[Hit], whole: f32, meaning: &[Hit], weight: f32) -> Vec<Hit> {
    let weight = weight.clamp(0.0, 1.0);
    let least = (COVERED * whole).max(f32::MIN_POSITIVE);
    let best = words.iter().map(|hit| hit.score).fold(least, f32::max);
    let mut scores: BTreeMap<u32, f32> = BTreeMap::new();
    for hit in words {
        *scores.entry(hit.number).or_default() += (1.0 - weight) * hit.score / best;
    }
    for hit in meaning {
        *scores.entry(hit.number).or_default() += weight * hit.score.max(0.0);
    }
    let least = RELATED * scores.values().copied().fold(0.0, f32::max);
    let shared: BTreeSet<u32> = words.iter().map(|hit| hit.number).collect();
    scores.retain(|number, score| *score >= least || shared.contains(number));
    Hit::sorted(scores.into_iter().map(|(number, score)| Hit { number, score }))
}

/// Merges lists with incomparable scores, by rank only: each list holds positions of common items, best first, and has
/// a weight. Returns positions and scores, best first.
///
/// ```
/// let fused = ranking::fuse(&[(vec![0, 1, 2], 1.0), (vec![1, 3], 1.0)]);
/// assert_eq!(fused.iter().map(|(position, _)| *position).collect::<Vec<_>>(), [1, 0, 3, 2]);
/// ```
pub fn fuse(lists: &[(Vec<usize>, f32)]) -> Vec<(usize, f32)> {
    let mut scores: BTreeMap<usize, f32> = BTreeMap::new();
    for (list, weight) in lists {
        for (place, position) in list.iter().enumerate() {
            *scores.entry(*position).or_default() += weight / (FUSION + place as f32 + 1.0);
        }
    }
    let mut fused: Vec<(usize, f32)> = scores.into_iter().collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1));
    fused
}
