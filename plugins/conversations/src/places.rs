//! Numbers of messages, and their locations.

use std::collections::BTreeMap;

use loggia_sdk::{
    prelude::*,
    state::{Cell, Collection, Transaction, id_with_number},
};

use crate::kept::{PREFIX, Role};

/// Allocated numbers.
pub static NUMBERS: Cell<Numbers> = Cell::new("numbers");

static PLACES: Collection<Vec<Place>> = Collection::new("places");

/// Number of messages whose locations share a row, and whose words share rows of the index.
const BLOCK: u32 = 256;
/// Maximum size of a block's texts, except for a single larger one: each append rewrites the rows of its block.
const FULL: usize = 256 * 1024;

/// The numbers that were given out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbers {
    /// The newest message's.
    newest: u32,
    /// Size of the texts in its block.
    bytes: usize,
}

impl Numbers {
    /// Allocates a number for a text of this size. If the block is full, skips its remaining numbers.
    pub fn give(&mut self, bytes: usize) -> u32 {
        let next = self.newest + 1;
        let full = self.bytes > 0 && self.bytes + bytes > FULL;
        self.newest = if full { next.next_multiple_of(BLOCK) } else { next };
        self.bytes = if self.newest.is_multiple_of(BLOCK) { bytes } else { self.bytes + bytes };
        self.newest
    }
}

/// Location of a message: the number in its conversation's id, its position, its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place(pub u32, pub u32, pub Role);

impl Place {
    pub fn conversation(self) -> String {
        id_with_number(PREFIX, self.0.into())
    }
}

/// Writes the locations of new messages, in the order of their numbers.
///
/// # Errors
///
/// The host's.
pub fn write(tx: &Transaction, new: &[(u32, Place)]) -> Result<()> {
    let rows = PLACES.of(tx);
    for block in new.chunk_by(|(a, _), (b, _)| a / BLOCK == b / BLOCK) {
        let key = (block[0].0 / BLOCK).to_string();
        let mut places = rows.get(&key)?.unwrap_or_default();
        places.extend(block.iter().map(|(_, place)| *place));
        rows.put(&key, &places)?;
    }
    Ok(())
}

/// Finds locations of messages by number; caches what it has read.
#[derive(Default)]
pub struct Places(BTreeMap<u32, Vec<Place>>);

impl Places {
    /// Locations of these messages; `None` for an unknown number.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn of(&mut self, numbers: &[u32]) -> Result<Vec<Option<Place>>> {
        let mut wanted: Vec<u32> = numbers.iter().map(|number| number / BLOCK).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|block| !self.0.contains_key(block));
        let keys: Vec<String> = wanted.iter().map(u32::to_string).collect();
        if !keys.is_empty() {
            let rows = PLACES.get_many(&keys)?;
            self.0.extend(wanted.into_iter().zip(rows.into_iter().map(Option::unwrap_or_default)));
        }
        Ok(numbers.iter().map(|number| self.find(*number)).collect())
    }

    fn find(&self, number: u32) -> Option<Place> {
        // Numbers have gaps only at the end of a block, and there is no 0.
        let at = number % BLOCK - u32::from(number < BLOCK);
        self.0.get(&(number / BLOCK))?.get(at as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_increase_and_skip_full_blocks() {
        let check = |texts: &[usize], expected: &[u32]| {
            let mut numbers = Numbers::default();
            let given: Vec<u32> = texts.iter().map(|bytes| numbers.give(*bytes)).collect();
            assert_eq!(given, expected, "{texts:?}");
        };
        check(&[10, 10, 10], &[1, 2, 3]);
        check(&[FULL, 1, 1], &[1, 256, 257]);
        check(&[FULL + 7, FULL + 7, 1], &[1, 256, 512]);
        check(&[FULL - 10, 10, 1], &[1, 2, 256]);
        let mut numbers = Numbers::default();
        let last = (0..600).map(|_| numbers.give(1)).last();
        assert_eq!((last, numbers.bytes), (Some(600), 600 - 512 + 1));
    }
}
