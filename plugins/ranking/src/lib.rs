//! Ranked search for plugins: by words, by meaning, and by both.
//!
//! Texts are identified by `u32` numbers, allocated from 1. [`Index`] ranks by words (BM25), [`Vectors`] by meaning
//! (cosine similarity of an [`Embedder`]'s vectors); both are stored in the plugin's state and written in its own
//! transactions. [`find`] searches by one or both, and [`mix`] merges the two lists; [`rank`] ranks texts without an
//! index, [`fuse`] merges lists with incomparable scores. [`suggest`] names the nearest of some names.
//!
//! ```
//! use loggia_sdk::{prelude::*, testing::{Host, Store}};
//! use ranking::Index;
//!
//! static INDEX: Index = Index::new("text");
//!
//! # Host::new().store(&Store::new()).run(|| -> Result<()> {
//! state::transaction(|tx| INDEX.add(tx, &[(1, "Milk and bread"), (2, "Running shoes")]))?;
//! let hits = INDEX.search("run")?;
//! assert_eq!((hits.len(), hits[0].number), (1, 2));
//! # Ok(())
//! # }).unwrap();
//! ```

use std::{cmp::Ordering, collections::BinaryHeap};

mod embedder;
mod endpoint;
mod excerpt;
mod find;
mod index;
mod mix;
mod rows;
mod vector;
mod vectors;

pub use embedder::Embedder;
pub use excerpt::excerpt;
pub use find::{Found, Mode, find};
pub use index::Index;
pub use mix::{close, fuse, mix};
pub use ranking_words::{rank, suggest, terms};
pub use vector::Vector;
pub use vectors::Vectors;

/// A text that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The caller's number for it.
    pub number: u32,
    /// Higher is better; only comparable within one list.
    pub score: f32,
}

impl Hit {
    /// Best first; of two that are as good, the newer one.
    fn sorted(hits: impl IntoIterator<Item = Self>) -> Vec<Self> {
        // A heap: its code is a tenth of a sort's, and a plugin's size matters.
        let heap: BinaryHeap<Ranked> = hits.into_iter().map(Ranked).collect();
        heap.into_sorted_vec().into_iter().map(|ranked| ranked.0).collect()
    }
}

/// A hit by its place in a list: the best one is the least.
struct Ranked(Hit);

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let (Self(a), Self(b)) = (self, other);
        b.score.total_cmp(&a.score).then(b.number.cmp(&a.number))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

#[cfg(test)]
mod tests;
