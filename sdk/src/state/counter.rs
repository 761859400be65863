//! A number that only goes up.

use super::{Cell, Slot, Transaction};
use crate::Result;

/// A number that starts at 0 and only increases, stored under the key `name`.
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
    /// If the name is empty, longer than 64 bytes, or contains `/` or `#`: for a `static`, at compile time.
    pub const fn new(name: &'static str) -> Self {
        Self(Cell::new(name))
    }

    /// Uses the caller's space: each caller has its own number.
    #[must_use]
    pub const fn in_caller_space(self) -> Self {
        Self(self.0.in_caller_space())
    }

    /// Returns the counter within a transaction.
    pub fn of<'a>(&self, tx: &'a Transaction) -> Count<'a> {
        Count(self.0.of(tx))
    }

    /// Current value.
    ///
    /// # Errors
    ///
    /// The host's, `denied` without the grant.
    pub fn get(&self) -> Result<u64> {
        Ok(self.0.get()?.unwrap_or_default())
    }

    /// Increments by one; returns the new value. No two calls get the same number.
    ///
    /// # Errors
    ///
    /// The host's errors; `denied` without the grant and in a `read` action.
    pub fn next(&self) -> Result<u64> {
        self.add(1)
    }

    /// Increments by a number; returns the new value. Saturates.
    ///
    /// # Errors
    ///
    /// Like [`next`](Self::next).
    pub fn add(&self, by: u64) -> Result<u64> {
        self.0.update(|number| *number = number.saturating_add(by))
    }
}

/// A [`Counter`] within a [`Transaction`]: `ORDERS.of(tx)`. Writes take effect at the end of the transaction.
#[derive(Debug)]
pub struct Count<'a>(Slot<'a, u64>);

impl Count<'_> {
    /// Current value.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn get(&self) -> Result<u64> {
        Ok(self.0.get()?.unwrap_or_default())
    }

    /// Increments by one; returns the new value.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn next(&self) -> Result<u64> {
        self.add(1)
    }

    /// Increments by a number; returns the new value.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn add(&self, by: u64) -> Result<u64> {
        self.0.update(|number| *number = number.saturating_add(by))
    }
}
