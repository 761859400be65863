//! Number of items of a result, for the envelope's `count`.
//!
//! Only the facade macro knows an action's whole return type, so it selects the implementation by autoref:
//! `(&Counted(&result)).items()` is [`IsList`]'s method if the type has it, and otherwise, one reference further,
//! [`IsNoList`]'s. Types without a length are not counted.

use std::collections::{BTreeSet, HashSet, LinkedList, VecDeque};

use crate::Reply;

/// Reference to an action's result.
pub struct Counted<'a, T>(pub &'a T);

/// A result that is a list.
pub trait IsList {
    /// Number of items; `None` for a failure.
    fn items(&self) -> Option<usize>;
}

impl<T: List, E> IsList for Counted<'_, Result<T, E>> {
    fn items(&self) -> Option<usize> {
        self.0.as_ref().ok().map(List::length)
    }
}

/// All other results.
pub trait IsNoList {
    /// `None`.
    fn items(&self) -> Option<usize>;
}

impl<T> IsNoList for &Counted<'_, T> {
    fn items(&self) -> Option<usize> {
        None
    }
}

/// Types that are lists in JSON.
pub trait List {
    /// Number of items.
    fn length(&self) -> usize;
}

impl<T: List> List for Reply<T> {
    fn length(&self) -> usize {
        self.data.length()
    }
}

macro_rules! lists {
    ($([$($generics:tt)*] $ty:ty),*) => {
        $(impl<$($generics)*> List for $ty {
            fn length(&self) -> usize {
                self.len()
            }
        })*
    };
}
lists!([T] Vec<T>, [T] Box<[T]>, [T] VecDeque<T>, [T] LinkedList<T>, [T] BTreeSet<T>, [T, S] HashSet<T, S>);
