//! Byte pair encoding of one piece: its bytes, merged in pairs, lowest rank first.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::vocabulary::Vocabulary;

/// Returns the number of tokens of a piece.
pub fn count_tokens(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    // Most words are tokens.
    if vocabulary.rank(piece).is_some() {
        return 1;
    }
    let mut parts = PartList::single_bytes(piece.len());
    // By rank, then from left to right. Pairs that a merge has made obsolete stay in the heap and are skipped.
    let mut pairs = BinaryHeap::new();
    let pair = |parts: &PartList, start: usize| {
        let end = parts.end_of_pair(start)?;
        Some(Reverse((vocabulary.rank(&piece[start..end])?, start, end)))
    };
    pairs.extend((0..piece.len()).filter_map(|start| pair(&parts, start)));
    let mut count = piece.len();
    while let Some(Reverse((_, start, end))) = pairs.pop() {
        if parts.end_of_pair(start) != Some(end) {
            continue;
        }
        parts.merge(start);
        count -= 1;
        let before = parts.before(start);
        pairs.extend(before.into_iter().chain([start]).filter_map(|start| pair(&parts, start)));
    }
    count
}

/// The parts of a piece, as a list that is doubly linked by their first bytes.
struct PartList {
    /// End of the part that begins here; 0 where none does.
    ends: Vec<usize>,
    /// Start of the part before the one that begins here.
    before: Vec<usize>,
}

impl PartList {
    fn single_bytes(length: usize) -> Self {
        Self { ends: (1..=length).collect(), before: (0..length).map(|at| at.wrapping_sub(1)).collect() }
    }

    /// End of the pair whose first part begins here, if a part does, and is not the last.
    fn end_of_pair(&self, start: usize) -> Option<usize> {
        self.ends.get(self.ends[start]).copied().filter(|_| self.ends[start] > 0)
    }

    /// Merges the pair whose first part begins here.
    fn merge(&mut self, start: usize) {
        let second = self.ends[start];
        let end = std::mem::take(&mut self.ends[second]);
        self.ends[start] = end;
        if let Some(before) = self.before.get_mut(end) {
            *before = start;
        }
    }

    /// Start of the part before the one that begins here.
    fn before(&self, start: usize) -> Option<usize> {
        (start > 0).then(|| self.before[start])
    }
}
