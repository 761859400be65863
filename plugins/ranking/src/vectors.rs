//! Vectors in the state.

use std::collections::BTreeSet;

use loggia_sdk::{prelude::*, state::Transaction};

use crate::{Embedder, Hit, Vector};

/// Rows that are read at once; the host may give fewer.
const PART: u32 = 1000;

/// The vectors of texts, in the state's shared space, by the texts' numbers. A `static` of the plugin.
///
/// All of them are compared with a query, one after another: at 256 dimensions that is 2.5 MB for 10,000 texts. What is
/// of another model than the one now configured counts as not there.
#[derive(Debug, Clone, Copy)]
pub struct Vectors {
    name: &'static str,
}

impl Vectors {
    /// The vectors of that name, which no collection and no index of the plugin has.
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// Keeps vectors, as part of a transaction: in it the plugin makes sure that the texts are still those that were sent.
    pub fn put(&self, tx: &Transaction, embedder: &Embedder, vectors: &[(u32, Vector)]) {
        for (number, vector) in vectors {
            let row = [&embedder.tag().to_be_bytes()[..], &vector.bytes()].concat();
            tx.put(&self.key(*number), row);
        }
    }

    /// Takes vectors away, if they are there: of texts that are gone, or have changed.
    pub fn remove(&self, tx: &Transaction, numbers: &[u32]) {
        for number in numbers {
            tx.delete(&self.key(*number));
        }
    }

    /// Which texts have a vector of this model.
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

    /// All texts that have a vector, those that are nearest to the query first. The score is the cosine.
    ///
    /// # Errors
    ///
    /// The state's.
    pub fn nearest(&self, embedder: &Embedder, query: &Vector) -> Result<Vec<Hit>> {
        let mut hits = Vec::new();
        self.each(embedder, |number, kept| hits.push(Hit { number, score: query.cosine_of(kept) }))?;
        Hit::sort(&mut hits);
        Ok(hits)
    }

    fn each(&self, embedder: &Embedder, mut see: impl FnMut(u32, &[u8])) -> Result<()> {
        let prefix = format!("{}#", self.name);
        let tag = embedder.tag().to_be_bytes();
        let mut after: Option<String> = None;
        loop {
            let part = state::shared().scan(&prefix, after.as_deref(), PART, None)?;
            for entry in &part.items {
                let number = entry.key.get(prefix.len()..).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                if let (Some(number), Some(kept)) = (number, entry.value.strip_prefix(&tag)) {
                    see(number, kept);
                }
            }
            match part.items.into_iter().next_back() {
                Some(last) if part.more => after = Some(last.key),
                _ => return Ok(()),
            }
        }
    }

    fn key(&self, number: u32) -> String {
        format!("{}#{number:08x}", self.name)
    }
}
