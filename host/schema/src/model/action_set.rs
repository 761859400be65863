//! Sets of actions.

use loggia_facade::Action;

/// A set of actions of one facade, by their index in the surface. A facade has at most 64 actions, so one word holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ActionSet(u64);

const _: () = assert!(crate::model::limits::ACTIONS <= 64);

impl ActionSet {
    pub(crate) const EMPTY: Self = Self(0);
    /// All actions of any facade.
    pub(crate) const ALL: Self = Self(u64::MAX);

    /// The set of one action.
    pub(crate) fn single(index: usize) -> Self {
        Self(1 << index)
    }

    /// The actions that satisfy a predicate.
    pub(crate) fn matching(actions: &[Action], holds: impl Fn(&Action) -> bool) -> Self {
        let indices = actions.iter().enumerate().filter(|(_, action)| holds(action)).map(|(index, _)| index);
        indices.fold(Self::EMPTY, |set, index| set.union(Self::single(index)))
    }

    pub(crate) fn contains(self, index: usize) -> bool {
        let shifted = u32::try_from(index).ok().and_then(|index| self.0.checked_shr(index));
        shifted.is_some_and(|bits| bits & 1 == 1)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The action of a set that has only one.
    pub(crate) fn only(self) -> Option<usize> {
        (self.len() == 1).then_some(self.0.trailing_zeros() as usize)
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}
