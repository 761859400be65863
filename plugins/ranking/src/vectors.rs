//! Vectors in the state.

use std::collections::{BTreeMap, BTreeSet};

use loggia_sdk::{prelude::*, state::Transaction};

use crate::{
    Embedder, Hit, Vector,
    rows::{decode, encode},
};

/// Texts whose vectors share a row: each query reads all rows, and each costs as much as some kilobytes.
const BLOCK: u32 = 32;

/// Rows per read; the host may return fewer.
const PART: u32 = 1000;

/// Rows per read for changes: with the longest vectors, 4 MiB.
const CHANGED: usize = 8;

/// Maximum bytes of rows that one transaction may write, besides other data.
const WRITTEN: usize = 1 << 20;

/// The vectors of texts, in the state's shared space, by the texts' numbers. A `static` of the plugin.
///
/// A query is compared with all of them in sequence: at 64 dimensions (the built-in model) that is 0.7 MB for 10,000
/// texts, at 256 dimensions 2.5 MB. Vectors of another model than the configured one count as missing.
#[derive(Debug, Clone, Copy)]
pub struct Vectors {
    name: &'static str,
}

/// Change of a text's vector: the new one, or none.
type Changed<'a> = (u32, Option<&'a [u8]>);

/// A vector in a row: which text of the block, of which model, and its parts.
type Kept<'a> = (u32, u32, &'a [u8]);

impl Vectors {
    /// The vectors of that name, which no collection and no index of the plugin has.
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// Stores vectors within a transaction, in which the plugin checks that the texts are unchanged.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn put(&self, tx: &Transaction, embedder: &Embedder, vectors: &[(u32, Vector)]) -> Result<()> {
        let vectors: Vec<(u32, Vec<u8>)> =
            vectors.iter().map(|(number, vector)| (*number, vector.bytes())).collect();
        let put: Vec<_> = vectors.iter().map(|(number, bytes)| (*number, Some(&**bytes))).collect();
        self.change(tx, embedder.tag(), &put)
    }

    /// Stores the vectors of new texts within their transaction, if the built-in model computes them. An endpoint is
    /// asked after the transaction, by the plugin.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn follow(&self, tx: &Transaction, texts: &[(u32, &str)]) -> Result<()> {
        let Some(embedder) = Embedder::built_in() else { return Ok(()) };
        let vectors = embedder.embed(&texts.iter().map(|(_, text)| *text).collect::<Vec<_>>())?;
        let numbered: Vec<_> = texts.iter().map(|(number, _)| *number).zip(vectors).collect();
        self.put(tx, &embedder, &numbered)
    }

    /// Maximum number of such vectors per transaction, if all were in different rows.
    pub fn at_once(vector: &Vector) -> usize {
        (WRITTEN / (BLOCK as usize * vector.length())).max(1)
    }

    /// Removes vectors, if they exist, of deleted or changed texts.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn remove(&self, tx: &Transaction, numbers: &[u32]) -> Result<()> {
        let gone: Vec<_> = numbers.iter().map(|number| (*number, None)).collect();
        self.change(tx, 0, &gone)
    }

    fn change(&self, tx: &Transaction, tag: u32, changes: &[Changed<'_>]) -> Result<()> {
        let mut by_row: BTreeMap<u32, Vec<Changed<'_>>> = BTreeMap::new();
        for (number, vector) in changes {
            by_row.entry(number / BLOCK).or_default().push((number % BLOCK, *vector));
        }
        let keys: Vec<String> = by_row.keys().map(|block| self.key(*block)).collect();
        let mut rows = Vec::with_capacity(keys.len());
        for keys in keys.chunks(CHANGED) {
            rows.extend(tx.get_many(keys)?);
        }
        for ((key, old), changes) in keys.iter().zip(&rows).zip(by_row.into_values()) {
            let mut row = read(old.as_deref())?;
            row.retain(|(at, ..)| changes.iter().all(|(changed, _)| changed != at));
            row.extend(changes.into_iter().filter_map(|(at, vector)| Some((at, tag, vector?))));
            match (row.is_empty(), old) {
                (false, _) => tx.put(key, encode(&row)?),
                (true, Some(_)) => tx.delete(key),
                (true, None) => {}
            }
        }
        Ok(())
    }

    /// Numbers of texts with a vector of this model.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn numbers(&self, embedder: &Embedder) -> Result<BTreeSet<u32>> {
        let mut numbers = BTreeSet::new();
        self.each(embedder, |number, _| {
            numbers.insert(number);
        })?;
        Ok(numbers)
    }

    /// All texts with a vector, nearest to the query first. The score is the cosine.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn nearest(&self, embedder: &Embedder, query: &Vector) -> Result<Vec<Hit>> {
        Ok(Hit::sorted(self.compared(embedder, query)?))
    }

    /// Like [`nearest`](Self::nearest), in any order: a search drops most of them first.
    pub(crate) fn compared(&self, embedder: &Embedder, query: &Vector) -> Result<Vec<Hit>> {
        let mut hits = Vec::new();
        let similarity = query.similarity();
        self.each(embedder, |number, kept| hits.push(Hit { number, score: similarity(kept) }))?;
        Ok(hits)
    }

    fn each(&self, embedder: &Embedder, mut see: impl FnMut(u32, &[u8])) -> Result<()> {
        let prefix = format!("{}#", self.name);
        let tag = embedder.tag();
        let mut after: Option<String> = None;
        loop {
            let part = state::shared().scan(&prefix, after.as_deref(), PART, None)?;
            for entry in &part.items {
                let Some(block) =
                    entry.key.get(prefix.len()..).and_then(|hex| u32::from_str_radix(hex, 16).ok())
                else {
                    continue;
                };
                for (at, _, kept) in read(Some(&entry.value))?.iter().filter(|(_, of, _)| *of == tag) {
                    see(block * BLOCK + at, kept);
                }
            }
            match part.items.into_iter().next_back() {
                Some(last) if part.more => after = Some(last.key),
                _ => return Ok(()),
            }
        }
    }

    fn key(&self, block: u32) -> String {
        format!("{}#{block:08x}", self.name)
    }
}

fn read(row: Option<&[u8]>) -> Result<Vec<Kept<'_>>> {
    row.map_or_else(|| Ok(Vec::new()), decode)
}
