//! Words of a text, and how well they answer a query (Okapi BM25); the nearest name to a mistyped one.
//!
//! Plain functions on plain data, without state and without the SDK: plugins use them by `ranking`, the host for
//! `describe` with `query`. `ranking` itself cannot serve the host, because the SDK's `testing` module imports
//! `loggia-schema`.

mod bm25;
mod nearest;
mod words;

pub use bm25::{rank, rarity, score};
pub use nearest::suggest;
pub use words::{stemmer, term, terms, words};
