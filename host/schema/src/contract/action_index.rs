//! Finds actions by words: an index of names, aliases, groups, summaries and parameters, ranked by BM25.

use std::collections::{BTreeSet, HashMap};

use loggia_facade::Action;
use serde_json::Value;

use crate::model::keywords;

/// Words of an action that are indexed. More would be the text of a manual, and cost time at load.
const WORDS: usize = 200;
/// Bytes of a query that are read.
const QUERY: usize = 400;
/// Distinct words of a query that count.
const QUERY_WORDS: usize = 32;
/// Letters of a word that is completed: `repo` finds `repository`.
const PREFIX: usize = 3;

/// How much a word counts, by its place.
const NAME: u16 = 6;
const ALIAS: u16 = 3;
const GROUP: u16 = 3;
const SUMMARY: u16 = 2;
const PARAMETER: u16 = 2;
const DESCRIPTION: u16 = 1;

/// The words of a facade's actions.
pub(crate) struct ActionIndex {
    /// The words in the form in which they are compared, in alphabetical order, each with the end of its postings.
    terms: Vec<(Box<str>, usize)>,
    postings: Vec<WordPosting>,
    /// The weight of all words of each action.
    lengths: Vec<u32>,
    /// The mean of `lengths`.
    average: f32,
}

/// The occurrences of a word in an action.
#[derive(Clone, Copy)]
struct WordPosting {
    action: u32,
    /// The occurrences, each as its place counts.
    weight: u16,
}

impl ActionIndex {
    pub(crate) fn new(actions: &[Action]) -> Self {
        let mut reader = WordReader::default();
        let mut found: HashMap<usize, Vec<WordPosting>> = HashMap::new();
        let mut lengths = Vec::with_capacity(actions.len());
        for (index, action) in (0..).zip(actions) {
            let mut weights: HashMap<usize, u16> = HashMap::new();
            reader.left = WORDS;
            reader.action(action, &mut |term, weight| {
                let sum = weights.entry(term).or_default();
                *sum = sum.saturating_add(weight);
            });
            lengths.push(weights.values().map(|weight| u32::from(*weight)).sum());
            for (term, weight) in weights {
                found.entry(term).or_default().push(WordPosting { action: index, weight });
            }
        }
        let mut numbered: Vec<(Box<str>, usize)> = reader.terms.into_iter().collect();
        numbered.sort();
        let mut postings = Vec::new();
        let terms = numbered.into_iter().map(|(term, number)| {
            postings.extend(found.remove(&number).unwrap_or_default());
            (term, postings.len())
        });
        let terms = terms.collect();
        let average = lengths.iter().sum::<u32>() as f32 / lengths.len().max(1) as f32;
        Self { terms, postings, lengths, average }
    }

    /// Returns the actions that have a word of the query, the best first and equals in their order. Only those that
    /// `shows` accepts exist: no other one influences what is found.
    pub(crate) fn search(&self, query: &str, shows: impl Fn(usize) -> bool) -> Vec<usize> {
        let visible = |postings: &[WordPosting]| -> Vec<WordPosting> {
            postings.iter().filter(|posting| shows(posting.action as usize)).copied().collect()
        };
        let all = (0..self.lengths.len()).filter(|index| shows(*index)).count();
        let all = u32::try_from(all).unwrap_or(u32::MAX);
        let mut scores = vec![0.0_f32; self.lengths.len()];
        for term in query_terms(query) {
            let mut postings = visible(self.postings_of(&term));
            if postings.is_empty() && term.chars().count() >= PREFIX {
                postings = visible(self.postings_with_prefix(&term));
            }
            let having: BTreeSet<u32> = postings.iter().map(|posting| posting.action).collect();
            let rarity = ranking_words::rarity(having.len(), all);
            for WordPosting { action, weight } in postings {
                let length = self.lengths[action as usize];
                scores[action as usize] +=
                    ranking_words::score(rarity, u32::from(weight), length, self.average);
            }
        }
        let mut hits: Vec<usize> = (0..scores.len()).filter(|index| scores[*index] > 0.0).collect();
        hits.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]));
        hits
    }

    fn postings_of(&self, term: &str) -> &[WordPosting] {
        match self.terms.binary_search_by(|(known, _)| (**known).cmp(term)) {
            Ok(place) => &self.postings[self.start(place)..self.terms[place].1],
            Err(_) => &[],
        }
    }

    /// The postings of all words that begin so, which are neighbours.
    fn postings_with_prefix(&self, prefix: &str) -> &[WordPosting] {
        let first = self.terms.partition_point(|(known, _)| &**known < prefix);
        let count = self.terms[first..].iter().take_while(|(known, _)| known.starts_with(prefix)).count();
        &self.postings[self.start(first)..self.start(first + count)]
    }

    fn start(&self, place: usize) -> usize {
        place.checked_sub(1).map_or(0, |before| self.terms[before].1)
    }
}

/// The distinct words of a query.
fn query_terms(query: &str) -> BTreeSet<String> {
    let query = split_case(&query[..query.floor_char_boundary(QUERY)]);
    ranking_words::terms(&query).into_iter().take(QUERY_WORDS).collect()
}

/// Reads the words of actions and numbers them. The same words come again and again, and removing an ending costs more
/// than looking it up.
#[derive(Default)]
struct WordReader {
    /// Words in the form in which they are compared, with their numbers.
    terms: HashMap<Box<str>, usize>,
    /// Words as they are written, with the numbers of their terms.
    written: HashMap<Box<str>, usize>,
    /// Words of the current action that may still be read.
    left: usize,
}

impl WordReader {
    fn action(&mut self, action: &Action, found: &mut impl FnMut(usize, u16)) {
        self.text(&split_case(&action.name), NAME, found);
        for alias in &action.aliases {
            self.text(&split_case(alias), ALIAS, found);
        }
        self.text(action.group.as_deref().unwrap_or_default(), GROUP, found);
        self.text(&action.summary, SUMMARY, found);
        let mut names = Vec::new();
        keywords::property_names(&action.params, &mut names);
        for name in &names {
            self.text(&split_case(name), PARAMETER, found);
        }
        for name in names {
            let schema = keywords::property(&action.params, name);
            let text = schema.and_then(|schema| schema.get("description")).and_then(Value::as_str);
            self.text(text.unwrap_or_default(), DESCRIPTION, found);
        }
    }

    fn text(&mut self, text: &str, weight: u16, found: &mut impl FnMut(usize, u16)) {
        for (_, word) in ranking_words::words(text) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            found(self.number(word), weight);
        }
    }

    fn number(&mut self, word: &str) -> usize {
        if let Some(number) = self.written.get(word) {
            return *number;
        }
        let next = self.terms.len();
        let term = ranking_words::term(&ranking_words::stemmer(), word);
        let number = *self.terms.entry(term.into()).or_insert(next);
        self.written.insert(word.into(), number);
        number
    }
}

/// Separates the words of `listPullRequests`.
fn split_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    let mut after_lower = false;
    for c in name.chars() {
        if after_lower && c.is_uppercase() {
            out.push(' ');
        }
        after_lower = c.is_lowercase() || c.is_numeric();
        out.push(c);
    }
    out
}
