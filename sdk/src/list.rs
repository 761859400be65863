//! How many items a result holds, for the envelope's `count`.
//!
//! Only the facade macro knows an action's whole return type, so it asks there: `(&Counted(&result)).items()` is
//! [`IsList`]'s method where the type has it, and else, one reference further, [`IsNoList`]'s. Nothing is counted that
//! knows no length of its own.

use std::collections::{BTreeSet, HashSet, LinkedList, VecDeque};

use crate::Reply;

/// What an action returned, a reference to it.
pub struct Counted<'a, T>(pub &'a T);

/// A result that is a list.
pub trait IsList {
    /// How many items it has; none where it is a failure.
    fn items(&self) -> Option<usize>;
}

impl<T: List, E> IsList for Counted<'_, Result<T, E>> {
    fn items(&self) -> Option<usize> {
        self.0.as_ref().ok().map(List::length)
    }
}

/// Any other result.
pub trait IsNoList {
    /// Nothing.
    fn items(&self) -> Option<usize>;
}

impl<T> IsNoList for &Counted<'_, T> {
    fn items(&self) -> Option<usize> {
        None
    }
}

/// What JSON shows as a list of like things.
pub trait List {
    /// How many.
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
