//! Direction of a text, by a static embedding that is part of the program.
//!
//! Each word has a fixed vector of 64 numbers, and a text has the sum of those of its words. That is far less than a
//! language model knows, but it needs no server, costs microseconds, and relates `beverage` to `tea`. The vectors are
//! those of potion-base-2M, in 4 bits: English only, see `LICENSE-potion` and `make.py`.

mod pieces;
mod table;

use table::Table;

pub use table::DIMENSIONS;

/// Returns the direction of a text; all zeros if it has no known word.
///
/// ```
/// let cosine = |a: &str, b: &str| {
///     let (a, b) = (ranking_meaning::direction(a), ranking_meaning::direction(b));
///     let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
///     dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
/// };
/// assert!(cosine("Drinks green tea", "favourite beverage") > 0.4);
/// assert!(cosine("Drinks green tea", "deployment of the server") < 0.3);
/// ```
pub fn direction(text: &str) -> [f32; DIMENSIONS] {
    let table = Table::open();
    let mut sum = [0.0; DIMENSIONS];
    for (_, word) in ranking_words::words(text) {
        for place in pieces::pieces(word, |hash| table.find(hash)) {
            table.add(place, &mut sum);
        }
    }
    sum
}

#[cfg(test)]
mod tests;
