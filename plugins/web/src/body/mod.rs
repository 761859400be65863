//! Bodies of responses: decompressed, their types, and their text.

mod charset;
mod coding;
mod kind;

pub use charset::to_text;
pub use coding::{DecodeError, decompress};
pub use kind::{PageKind, mime};
