//! An index of words that grows with each text.

use std::collections::BTreeMap;

use loggia_sdk::{failure::code, prelude::*, state::Transaction};

use crate::{
    Hit,
    rows::{self, FULL, Posting, Row, bucket, decode, encode},
    terms,
};

/// Maximum number of words of a query.
const QUERY: usize = 32;
/// Initial number of rows per read.
const ROWS: usize = 256;

/// An index in the state's shared space. A `static` of the plugin.
#[derive(Debug, Clone, Copy)]
pub struct Index {
    name: &'static str,
}

/// Statistics of all texts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Totals {
    texts: u32,
    words: u64,
    /// The highest number that was ever given.
    last: u32,
    /// The first number of each block, in order.
    blocks: Vec<u32>,
    /// Bytes written into the last block, at most.
    filled: usize,
}

impl Totals {
    /// The block of a number, and the place in it.
    fn place(&self, number: u32) -> Option<(u32, u8)> {
        let after = self.blocks.partition_point(|first| *first <= number);
        let first = *self.blocks.get(after.checked_sub(1)?)?;
        Some((first, u8::try_from(number - first).ok()?))
    }

    /// Allocates the position of a new text: starts a block if its number needs one, or if the last one is full, since
    /// each text may rewrite all rows of a block.
    fn room(&mut self, number: u32, bytes: usize) -> (u32, u8) {
        let full = number > self.last && self.filled > 0 && self.filled + bytes > FULL;
        self.last = self.last.max(number);
        let (first, at) = self.place(number).filter(|_| !full).unwrap_or_else(|| {
            let after = self.blocks.partition_point(|first| *first <= number);
            self.blocks.insert(after, number);
            if after + 1 == self.blocks.len() {
                self.filled = 0;
            }
            (number, 0)
        });
        if self.blocks.last() == Some(&first) {
            self.filled += bytes;
        }
        (first, at)
    }
}

/// Change of a word's posting in a text: the new one, or none.
type Changed<'a> = (&'a str, u8, Option<Posting>);

impl Index {
    /// The index of that name, which no collection of the plugin has.
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// Adds texts under unused numbers, within a transaction.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn add(&self, tx: &Transaction, texts: &[(u32, &str)]) -> Result<()> {
        self.change(tx, &[], texts)
    }

    /// Removes texts: exactly those that were added under these numbers.
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

    /// Removes texts and adds others.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn change(&self, tx: &Transaction, removed: &[(u32, &str)], added: &[(u32, &str)]) -> Result<()> {
        let counted = |texts: &[(u32, &str)]| -> Vec<_> {
            texts.iter().map(|(number, text)| (*number, count(text))).collect()
        };
        let (removed, added) = (counted(removed), counted(added));
        let kept = tx.get(&self.totals())?;
        let mut totals = read_totals(kept.as_deref())?;
        let mut by_row: BTreeMap<(u32, u32), Vec<Changed<'_>>> = BTreeMap::new();
        for (texts, add) in [(&removed, false), (&added, true)] {
            for (number, (times, length)) in texts {
                let place = if add {
                    Some(totals.room(*number, rows::bytes(times.keys())))
                } else {
                    totals.place(*number)
                };
                let Some((block, at)) = place else { continue };
                let sign = if add { 1 } else { -1 };
                totals.texts = totals.texts.saturating_add_signed(sign);
                totals.words = totals.words.saturating_add_signed(i64::from(sign) * i64::from(*length));
                for (term, times) in times {
                    let posting = add.then_some(Posting { at, times: *times, length: *length });
                    by_row.entry((bucket(term), block)).or_default().push((term, at, posting));
                }
            }
        }
        let keys: Vec<String> =
            by_row.keys().map(|(bucket, block)| rows::key(self.name, *bucket, *block)).collect();
        let mut kept = Vec::with_capacity(keys.len());
        for keys in keys.chunks(ROWS / 4) {
            kept.extend(tx.get_many(keys)?);
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
        Ok(self.weighed(query)?.0)
    }

    /// Like [`search`](Self::search), and the score of a text of average length that has each word of the query once.
    pub(crate) fn weighed(&self, query: &str) -> Result<(Vec<Hit>, f32)> {
        let wanted = distinct(terms(query).into_iter().take(QUERY));
        let totals = self.read()?;
        let average = totals.words as f32 / totals.texts.max(1) as f32;
        let mut scores = vec![0.0_f32; totals.last as usize + 1];
        let mut whole = 0.0;
        for postings in self.postings(&wanted, &totals.blocks)? {
            let rarity = ranking_words::rarity(postings.len(), totals.texts);
            whole += rarity;
            for (number, posting) in postings {
                // A text that was added after the totals were read is left to the next search.
                if let Some(score) = scores.get_mut(number as usize) {
                    *score += ranking_words::score(rarity, posting.times, posting.length, average);
                }
            }
        }
        let numbered = (0..).zip(scores);
        let hits = numbered.filter(|(_, score)| *score > 0.0).map(|(number, score)| Hit { number, score });
        Ok((Hit::sorted(hits), whole))
    }

    /// Postings of each word.
    fn postings(&self, wanted: &[String], blocks: &[u32]) -> Result<Vec<Vec<(u32, Posting)>>> {
        let buckets = distinct(wanted.iter().map(|term| bucket(term)));
        let places: Vec<(u32, u32)> =
            buckets.iter().flat_map(|bucket| blocks.iter().map(|block| (*bucket, *block))).collect();
        let mut found: Vec<Vec<(u32, Posting)>> = vec![Vec::new(); wanted.len()];
        let (mut rest, mut part) = (&*places, ROWS);
        while !rest.is_empty() {
            let (places, others) = rest.split_at(part.min(rest.len()));
            let keys = places.iter().map(|(bucket, block)| rows::key(self.name, *bucket, *block)).collect();
            let kept = match state::shared().get_many(keys) {
                // The rows are too large to be read together.
                Err(failure) if failure.code == code::INVALID_PARAMS && part > 1 => {
                    part = part.div_ceil(8);
                    continue;
                }
                kept => kept?,
            };
            rest = others;
            for ((in_bucket, block), entry) in places.iter().zip(&kept) {
                let Some(entry) = entry else { continue };
                let row = Row::read(Some(&entry.value))?;
                for (term, found) in
                    wanted.iter().zip(&mut found).filter(|(term, _)| bucket(term) == *in_bucket)
                {
                    let number = |posting: Posting| (block + u32::from(posting.at), posting);
                    found.extend(row.postings(term)?.into_iter().map(number));
                }
            }
        }
        Ok(found)
    }

    /// Number of texts.
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

/// Frequency of each word in a text, and the text's length in words.
fn count(text: &str) -> (BTreeMap<String, u32>, u32) {
    let mut times = BTreeMap::new();
    let mut length = 0;
    for term in terms(text) {
        *times.entry(term).or_default() += 1;
        length += 1;
    }
    (times, length)
}

/// Removes duplicates from a short list, keeping the order.
fn distinct<T: PartialEq>(things: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for thing in things {
        if !distinct.contains(&thing) {
            distinct.push(thing);
        }
    }
    distinct
}

fn read_totals(bytes: Option<&[u8]>) -> Result<Totals> {
    bytes.map_or_else(|| Ok(Totals::default()), decode)
}
