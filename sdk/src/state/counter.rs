//! A number that only goes up.

use super::{Cell, Slot, Transaction};
use crate::Result;

/// A number that begins at 0 and only goes up, kept under the key `name`.
///
/// ```
/// # use loggia_sdk::{prelude::*, state::Counter, testing::{Host, Store}};
/// static ORDERS: Counter = Counter::new("orders");
///
/// # Host::new().store(&Store::new()).run(|| -> Result<()> {
/// assert_eq!(ORDERS.next()?, 1);
/// assert_eq!(ORDERS.add(10)?, 11);
/// assert_eq!(ORDERS.get()?, 11);
/// # Ok(())
/// # }).unwrap();
/// ```
///
/// Ids of rows are made by [`Collection::next_id`](super::Collection::next_id).
#[derive(Debug, Clone, Copy)]
pub struct Counter(Cell<u64>);

impl Counter {
    /// The counter of that name, in the shared space.
    ///
    /// # Panics
    ///
    /// Where the name is empty, longer than 64 bytes, or holds `/` or `#`: in a `static`, when the plugin is compiled.
    pub const fn new(name: &'static str) -> Self {
        Self(Cell::new(name))
    }

    /// The same in the space of who called: each caller has its own number.
    #[must_use]
    pub const fn in_caller_space(self) -> Self {
        Self(self.0.in_caller_space())
    }

    /// The same, within a transaction.
    pub fn of<'a>(&self, tx: &'a Transaction) -> Count<'a> {
        Count(self.0.of(tx))
    }

    /// Where it stands.
    ///
    /// # Errors
    ///
    /// The host's, `denied` without the grant.
    pub fn get(&self) -> Result<u64> {
        Ok(self.0.get()?.unwrap_or_default())
    }

    /// Goes up by one; where it now stands. No two calls get the same number.
    ///
    /// # Errors
    ///
    /// The host's; `denied` without the grant and in a `read` action.
    pub fn next(&self) -> Result<u64> {
        self.add(1)
    }

    /// Goes up by so much; where it now stands. It stays at the largest number that there is.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub fn add(&self, by: u64) -> Result<u64> {
        self.0.update(|number| *number = number.saturating_add(by))
    }
}

/// A [`Counter`] within a [`Transaction`]: `ORDERS.of(tx)`. What it writes is written when the transaction ends.
#[derive(Debug)]
pub struct Count<'a>(Slot<'a, u64>);

impl Count<'_> {
    /// Where it stands.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn get(&self) -> Result<u64> {
        Ok(self.0.get()?.unwrap_or_default())
    }

    /// Goes up by one; where it now stands.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn next(&self) -> Result<u64> {
        self.add(1)
    }

    /// Goes up by so much; where it now stands.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn add(&self, by: u64) -> Result<u64> {
        self.0.update(|number| *number = number.saturating_add(by))
    }
}
