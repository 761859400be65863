//! An index of words that grows with each text.

use std::collections::BTreeMap;

use loggia_sdk::{prelude::*, state::Transaction};

use crate::{
    Hit, bm25,
    rows::{self, BLOCK, Posting, Row, bucket, decode, encode},
    terms,
};

/// Words of a query that count; more say nothing more.
const QUERY: usize = 32;
/// Rows that are asked for at once.
const ROWS: usize = 500;

/// An index in the state's shared space. A `static` of the plugin.
#[derive(Debug, Clone, Copy)]
pub struct Index {
    name: &'static str,
}

/// What is true of all texts together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Totals {
    texts: u32,
    words: u64,
    /// The highest number that was ever given.
    last: u32,
}

/// What is to be said of a word in a text: where it stands, or that it does not.
type Changed<'a> = (&'a str, u8, Option<Posting>);

impl Index {
    /// The index of that name, which no collection of the plugin has.
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// Adds texts, each under a number that has none yet, as part of a transaction.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn add(&self, tx: &Transaction, texts: &[(u32, &str)]) -> Result<()> {
        self.change(tx, &[], texts)
    }

    /// Takes texts away: the very texts that were added under these numbers.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn remove(&self, tx: &Transaction, texts: &[(u32, &str)]) -> Result<()> {
        self.change(tx, texts, &[])
    }

    /// Puts a text in the place of another one.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn replace(&self, tx: &Transaction, number: u32, old: &str, new: &str) -> Result<()> {
        self.change(tx, &[(number, old)], &[(number, new)])
    }

    /// Takes texts away and adds others.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn change(&self, tx: &Transaction, removed: &[(u32, &str)], added: &[(u32, &str)]) -> Result<()> {
        let counted = |texts: &[(u32, &str)]| -> Vec<_> {
            texts.iter().map(|(number, text)| (*number, count(text))).collect()
        };
        let (removed, added) = (counted(removed), counted(added));
        let mut by_row: BTreeMap<(u32, u32), Vec<Changed<'_>>> = BTreeMap::new();
        for (texts, add) in [(&removed, false), (&added, true)] {
            for (number, (times, length)) in texts {
                let (block, at) = place(*number);
                for (term, times) in times {
                    let posting = add.then_some(Posting { at, times: *times, length: *length });
                    by_row.entry((bucket(term), block)).or_default().push((term, at, posting));
                }
            }
        }
        let mut keys: Vec<String> =
            by_row.keys().map(|(bucket, block)| rows::key(self.name, *bucket, *block)).collect();
        keys.push(self.totals());
        let mut kept = tx.get_many(&keys)?;
        let mut totals = read_totals(kept.pop().flatten().as_deref())?;
        for (texts, sign) in [(&removed, -1), (&added, 1)] {
            for (number, (_, length)) in texts {
                totals.texts = totals.texts.saturating_add_signed(sign);
                totals.words = totals.words.saturating_add_signed(i64::from(sign) * i64::from(*length));
                totals.last = totals.last.max(*number);
            }
        }
        for ((key, kept), changes) in keys.iter().zip(&kept).zip(by_row.into_values()) {
            let mut row = Row::read(kept.as_deref())?;
            for (term, at, posting) in changes {
                match posting {
                    Some(posting) => row.put(term, posting)?,
                    None => row.take(term, at)?,
                }
            }
            match row.write()? {
                Some(bytes) => tx.put(key, bytes),
                None => tx.delete(key),
            }
        }
        tx.put(&self.totals(), encode(&totals)?);
        Ok(())
    }

    /// The texts that have a word of the query, best first.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn search(&self, query: &str) -> Result<Vec<Hit>> {
        let wanted = distinct(terms(query).into_iter().take(QUERY));
        let totals = self.read()?;
        let average = totals.words as f32 / totals.texts.max(1) as f32;
        let mut scores = vec![0.0_f32; totals.last as usize + 1];
        for postings in self.postings(&wanted, totals.last)? {
            let rarity = bm25::rarity(postings.len(), totals.texts);
            for (number, posting) in postings {
                // One that was added since the totals were read is for the next search.
                if let Some(score) = scores.get_mut(number as usize) {
                    *score += bm25::score(rarity, posting.times, posting.length, average);
                }
            }
        }
        let numbered = (0..).zip(scores);
        let hits = numbered.filter(|(_, score)| *score > 0.0).map(|(number, score)| Hit { number, score });
        Ok(Hit::sorted(hits))
    }

    /// Where each word stands, in texts up to the last one.
    fn postings(&self, wanted: &[String], last: u32) -> Result<Vec<Vec<(u32, Posting)>>> {
        let buckets = distinct(wanted.iter().map(|term| bucket(term)));
        let blocks = 0..=last / BLOCK;
        let places: Vec<(u32, u32)> =
            buckets.iter().flat_map(|bucket| blocks.clone().map(|block| (*bucket, block))).collect();
        let mut found: Vec<Vec<(u32, Posting)>> = vec![Vec::new(); wanted.len()];
        for places in places.chunks(ROWS) {
            let keys = places.iter().map(|(bucket, block)| rows::key(self.name, *bucket, *block)).collect();
            let kept = state::shared().get_many(keys)?;
            for ((in_bucket, block), entry) in places.iter().zip(&kept) {
                let Some(entry) = entry else { continue };
                let row = Row::read(Some(&entry.value))?;
                for (term, found) in
                    wanted.iter().zip(&mut found).filter(|(term, _)| bucket(term) == *in_bucket)
                {
                    let number = |posting: Posting| (block * BLOCK + u32::from(posting.at), posting);
                    found.extend(row.postings(term)?.into_iter().map(number));
                }
            }
        }
        Ok(found)
    }

    /// How many texts there are.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn count(&self) -> Result<u32> {
        Ok(self.read()?.texts)
    }

    fn read(&self) -> Result<Totals> {
        let kept = state::shared().get(&self.totals())?;
        read_totals(kept.as_ref().map(|entry| &*entry.value))
    }

    fn totals(&self) -> String {
        format!("{}#totals", self.name)
    }
}

/// How often each word stands in a text, and how many it has.
fn count(text: &str) -> (BTreeMap<String, u32>, u32) {
    let mut times = BTreeMap::new();
    let mut length = 0;
    for term in terms(text) {
        *times.entry(term).or_default() += 1;
        length += 1;
    }
    (times, length)
}

/// Few things, each once, in the order in which they come.
fn distinct<T: PartialEq>(things: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for thing in things {
        if !distinct.contains(&thing) {
            distinct.push(thing);
        }
    }
    distinct
}

/// The block, and the place in it.
fn place(number: u32) -> (u32, u8) {
    (number / BLOCK, (number % BLOCK) as u8)
}

fn read_totals(bytes: Option<&[u8]>) -> Result<Totals> {
    bytes.map_or_else(|| Ok(Totals::default()), decode)
}
