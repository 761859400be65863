//! Sets of actions.

use std::sync::Arc;

use loggia_facade::Action;

/// Actions that one word holds.
const WORD: usize = u64::BITS as usize;

/// A set of actions of one facade, by their index in the surface.
///
/// The first 64 actions are held in place, so that sets of most facades take no memory and no time to allocate. Sets of
/// larger facades share the words of the other actions when they are cloned. A set is a value: equal sets have equal
/// words, without words at the end that only repeat `rest`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActionSet {
    /// The first 64 actions, one bit each.
    first: u64,
    /// The next actions, 64 per word.
    more: Option<Arc<[u64]>>,
    /// Whether all actions after these are in the set.
    rest: bool,
}

impl ActionSet {
    pub(crate) const EMPTY: Self = Self { first: 0, more: None, rest: false };
    /// All actions of any facade.
    pub(crate) const ALL: Self = Self { first: u64::MAX, more: None, rest: true };

    /// The set of one action.
    pub(crate) fn single(index: usize) -> Self {
        Self::from_indices([index])
    }

    /// The set of these actions.
    pub(crate) fn from_indices(indices: impl IntoIterator<Item = usize>) -> Self {
        let (mut first, mut more) = (0, Vec::new());
        for index in indices {
            let bit = 1 << (index % WORD);
            match (index / WORD).checked_sub(1) {
                None => first |= bit,
                Some(word) => {
                    if more.len() <= word {
                        more.resize(word + 1, 0);
                    }
                    more[word] |= bit;
                }
            }
        }
        Self::from_words(first, more, false)
    }

    /// The actions that satisfy a predicate.
    pub(crate) fn matching(actions: &[Action], holds: impl Fn(&Action) -> bool) -> Self {
        let actions = actions.iter().enumerate();
        Self::from_indices(actions.filter(|(_, action)| holds(action)).map(|(index, _)| index))
    }

    /// The first `count` actions.
    pub(crate) fn first(count: usize) -> Self {
        Self::from_indices(0..count)
    }

    /// Removes the words that only repeat `rest`.
    fn from_words(first: u64, mut more: Vec<u64>, rest: bool) -> Self {
        let used = more.iter().rposition(|word| *word != fill(rest)).map_or(0, |last| last + 1);
        more.truncate(used);
        Self { first, more: (used > 0).then(|| more.into()), rest }
    }

    pub(crate) fn contains(&self, index: usize) -> bool {
        let word = if index < WORD { self.first } else { self.word(index / WORD - 1) };
        word >> (index % WORD) & 1 == 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// The number of actions; `usize::MAX` if the set has no end.
    pub(crate) fn len(&self) -> usize {
        let words = std::iter::once(&self.first).chain(self.more.iter().flat_map(|more| more.iter()));
        if self.rest { usize::MAX } else { words.map(|word| word.count_ones() as usize).sum() }
    }

    /// The action of a set that has only one.
    pub(crate) fn only(&self) -> Option<usize> {
        let words = 1 + self.more.as_ref().map_or(0, |more| more.len());
        let mut indices = (0..words * WORD).filter(|index| self.contains(*index));
        let first = indices.next()?;
        (!self.rest && indices.next().is_none()).then_some(first)
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        self.combine(other, |one, other| one | other)
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |one, other| one & other)
    }

    pub(crate) fn difference(&self, other: &Self) -> Self {
        self.combine(other, |one, other| one & !other)
    }

    fn combine(&self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
        let words = self.more.iter().chain(&other.more).map(|more| more.len()).max().unwrap_or(0);
        let more = (0..words).map(|index| with(self.word(index), other.word(index))).collect();
        let rest = with(fill(self.rest), fill(other.rest)) != 0;
        Self::from_words(with(self.first, other.first), more, rest)
    }

    /// A word after the first one.
    fn word(&self, index: usize) -> u64 {
        self.more.as_ref().and_then(|more| more.get(index)).copied().unwrap_or(fill(self.rest))
    }
}

/// A word of actions that are all in the set, or all not.
fn fill(are_in: bool) -> u64 {
    if are_in { u64::MAX } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn set(indices: &[usize]) -> ActionSet {
        ActionSet::from_indices(indices.iter().copied())
    }

    const SETS: [&[usize]; 7] =
        [&[], &[0], &[63], &[64], &[0, 64, 2047], &[1, 63, 64, 65, 700], &[128, 2047, 4_000]];

    #[test]
    fn sets_agree_with_those_of_std() {
        type Operation = fn(&ActionSet, &ActionSet) -> ActionSet;
        type Expected = fn(&BTreeSet<usize>, &BTreeSet<usize>) -> BTreeSet<usize>;
        let operations: [(Operation, Expected); 3] = [
            (ActionSet::union, |one, other| one | other),
            (ActionSet::intersection, |one, other| one & other),
            (ActionSet::difference, |one, other| one - other),
        ];
        for one in SETS {
            for other in SETS {
                for (operation, expected) in operations {
                    let made = operation(&set(one), &set(other));
                    let expected = expected(&one.iter().copied().collect(), &other.iter().copied().collect());
                    assert_eq!(made, ActionSet::from_indices(expected.iter().copied()), "{one:?} {other:?}");
                    assert_eq!(made.len(), expected.len());
                    assert_eq!(made.is_empty(), expected.is_empty());
                    assert!((0..5_000).all(|index| made.contains(index) == expected.contains(&index)));
                    let only = expected.iter().next().copied().filter(|_| expected.len() == 1);
                    assert_eq!(made.only(), only);
                }
            }
        }
    }

    #[test]
    fn the_set_of_all_has_no_end() {
        for removed in SETS {
            let removed = set(removed);
            let left = ActionSet::ALL.difference(&removed);
            assert!((0..5_000).all(|index| left.contains(index) != removed.contains(index)));
            assert_eq!((left.len(), left.only(), left.is_empty()), (usize::MAX, None, false));
            assert_eq!(left.union(&removed), ActionSet::ALL);
            assert_eq!(ActionSet::ALL.intersection(&removed), removed);
        }
        assert_eq!(ActionSet::first(1_200).len(), 1_200);
        assert!(!ActionSet::first(64).contains(64) && ActionSet::ALL.contains(usize::MAX));
    }
}
