//! Okapi BM25 with the usual constants: how well a text answers a query by its words.

use std::collections::BTreeSet;

use crate::{stemmer, term, terms, words};

/// Saturation: how soon further occurrences of a word stop to count.
const K1: f32 = 1.2;
/// Weight of the length of a text.
const B: f32 = 0.75;

/// Returns the weight of a word that `having` of `all` texts contain. (The form of Lucene, which is never negative.)
pub fn rarity(having: usize, all: u32) -> f32 {
    let (having, all) = (having as f32, all as f32);
    (1.0 + (all - having + 0.5).max(0.0) / (having + 0.5)).ln()
}

/// Returns the score of a text of this `length` for a word of this rarity that occurs so many `times` in it.
pub fn score(rarity: f32, times: u32, length: u32, average: f32) -> f32 {
    let times = times as f32;
    let long = 1.0 - B + B * length as f32 / average.max(1.0);
    rarity * times * (K1 + 1.0) / (times + K1 * long)
}

/// Scores texts without an index, in their order. The score is 0 for texts without any word of the query.
///
/// Only words that begin like one of the query are stemmed, and no other word is kept: the texts may be many.
///
/// ```
/// let scores = ranking_words::rank("red fox", &["A fox.", "The red foxes", "Nothing"]);
/// assert!(scores[1] > scores[0] && scores[0] > 0.0);
/// assert_eq!(scores[2], 0.0);
/// ```
pub fn rank(query: &str, texts: &[&str]) -> Vec<f32> {
    let wanted: BTreeSet<String> = terms(query).into_iter().collect();
    let wanted: Vec<String> = wanted.into_iter().collect();
    let stemmer = stemmer();
    // How often each text has each word of the query, and the number of its words.
    let mut times = vec![0_u32; texts.len() * wanted.len()];
    let mut lengths = vec![0_u32; texts.len()];
    for (index, text) in texts.iter().enumerate() {
        for (_, word) in words(text) {
            lengths[index] += 1;
            // Stemming never changes the first letter.
            let first = word.chars().flat_map(char::to_lowercase).next();
            if wanted.iter().any(|wanted| wanted.chars().next() == first) {
                let term = term(&stemmer, word);
                if let Some(place) = wanted.iter().position(|wanted| *wanted == term) {
                    times[index * wanted.len() + place] += 1;
                }
            }
        }
    }
    let average =
        lengths.iter().map(|length| *length as usize).sum::<usize>() as f32 / texts.len().max(1) as f32;
    let all = u32::try_from(texts.len()).unwrap_or(u32::MAX);
    let mut scores = vec![0.0; texts.len()];
    for place in 0..wanted.len() {
        let times = || times.iter().skip(place).step_by(wanted.len());
        let rarity = rarity(times().filter(|times| **times > 0).count(), all);
        for ((total, length), times) in scores.iter_mut().zip(&lengths).zip(times()) {
            if *times > 0 {
                *total += score(rarity, *times, *length, average);
            }
        }
    }
    scores
}
