//! Ranked search for plugins: by words, by meaning, and by both.
//!
//! What a plugin keeps is known here by numbers of its own: `u32`, counted up from 1, one for each text that can be found.
//! [`Index`] ranks by words (BM25), [`Vectors`] by meaning (cosine of what an [`Embedder`] gives); both live in the
//! plugin's state and are written in its own transactions. [`mix`] makes one list of the two, [`rank`] ranks texts that are
//! at hand, [`fuse`] joins lists that know nothing of each other.
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

mod bm25;
mod embedder;
mod excerpt;
mod index;
mod mix;
mod rows;
mod vector;
mod vectors;
mod words;

pub use bm25::rank;
pub use embedder::Embedder;
pub use excerpt::excerpt;
pub use index::Index;
pub use mix::{close, fuse, mix};
pub use vector::Vector;
pub use vectors::Vectors;
pub use words::terms;

/// A text that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The caller's number for it.
    pub number: u32,
    /// The higher the better; comparable within one list alone.
    pub score: f32,
}

impl Hit {
    /// Best first; of two that are as good, the newer one.
    fn sort(hits: &mut [Self]) {
        hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(b.number.cmp(&a.number)));
    }
}

#[cfg(test)]
mod tests;
