//! One value.

use std::{fmt, marker::PhantomData, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Change, Transaction,
    table::{Table, decode, encode},
};
use crate::Result;

/// One value, stored as JSON under the key `name`: settings, a cursor, the last item seen.
///
/// ```
/// # use loggia_sdk::{prelude::*, state::Cell, testing::{Host, Store}};
/// static VISITED: Cell<Vec<String>> = Cell::new("visited");
///
/// fn visit(place: &str) -> Result<usize> {
///     Ok(VISITED.update(|places| places.push(place.into()))?.len())
/// }
/// # Host::new().store(&Store::new()).run(|| assert_eq!((visit("Rome"), visit("Oslo")), (Ok(1), Ok(2))));
/// ```
///
/// Every method returns `denied` if the policy does not grant `store`; writing methods also do in a `read` action.
pub struct Cell<T> {
    table: Table,
    value: PhantomData<fn() -> T>,
}

impl<T> Clone for Cell<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Cell<T> {}

impl<T> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cell").field(&self.table.name).finish()
    }
}

impl<T> Cell<T> {
    /// The cell of that name, in the shared space.
    ///
    /// # Panics
    ///
    /// If the name is empty, longer than 64 bytes, or contains `/` or `#`: for a `static`, at compile time.
    pub const fn new(name: &'static str) -> Self {
        Self { table: Table::new(name), value: PhantomData }
    }

    /// Uses the caller's space: each caller has its own value.
    #[must_use]
    pub const fn in_caller_space(self) -> Self {
        Self { table: self.table.in_caller_space(), value: PhantomData }
    }

    /// Sets a time to live, counted from the last write.
    #[must_use]
    pub const fn until(self, time: Duration) -> Self {
        Self { table: self.table.until(time), value: PhantomData }
    }

    /// Returns the cell within a transaction.
    pub fn of<'a>(&self, tx: &'a Transaction) -> Slot<'a, T> {
        Slot { tx, table: self.table, value: PhantomData }
    }

    /// Deletes the value.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn clear(&self) -> Result<()> {
        self.table.space.commit(vec![Change::delete(self.table.name)]).map(drop)
    }
}

impl<T: Serialize + DeserializeOwned> Cell<T> {
    /// Reads the value, if it exists.
    ///
    /// # Errors
    ///
    /// `internal` if the value has another type; otherwise the host's errors.
    pub fn get(&self) -> Result<Option<T>> {
        let entry = self.table.space.get(self.table.name)?;
        entry.map(|entry| decode(&entry.key, &entry.value)).transpose()
    }

    /// Writes the value.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn set(&self, value: &T) -> Result<()> {
        let json = encode(self.table.name, value)?;
        self.table.space.commit(vec![Change::new(self.table.name, self.table.write(json))]).map(drop)
    }

    /// Changes the value in place, starting from the type's default; returns the new value. On a conflict, `change`
    /// runs again on the current value.
    ///
    /// # Errors
    ///
    /// Like [`get`](Self::get).
    pub fn update(&self, mut change: impl FnMut(&mut T)) -> Result<T>
    where
        T: Default,
    {
        self.table.space.transaction(|tx| self.of(tx).update(&mut change))
    }
}

/// A [`Cell`] within a [`Transaction`]: `SETTINGS.of(tx)`. Writes take effect at the end of the transaction.
pub struct Slot<'a, T> {
    tx: &'a Transaction,
    table: Table,
    value: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for Slot<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slot").field(&self.table.name).finish()
    }
}

impl<T> Slot<'_, T> {
    /// Deletes the value.
    ///
    /// # Errors
    ///
    /// `internal` if the cell is of another space than the transaction.
    pub fn clear(&self) -> Result<()> {
        self.tx.takes(self.table.name, self.table.space)?;
        self.tx.delete(self.table.name);
        Ok(())
    }
}

impl<T: Serialize + DeserializeOwned> Slot<'_, T> {
    /// Reads the value, if it exists.
    ///
    /// # Errors
    ///
    /// `internal` if the value has another type; otherwise the host's errors.
    pub fn get(&self) -> Result<Option<T>> {
        self.tx.takes(self.table.name, self.table.space)?;
        self.tx.get(self.table.name)?.map(|json| decode(self.table.name, &json)).transpose()
    }

    /// Writes the value.
    ///
    /// # Errors
    ///
    /// `internal` if it cannot be written as JSON.
    pub fn set(&self, value: &T) -> Result<()> {
        self.tx.takes(self.table.name, self.table.space)?;
        let json = encode(self.table.name, value)?;
        self.tx.write(self.table.name, self.table.write(json));
        Ok(())
    }

    /// Changes the value in place, starting from the type's default; returns the new value.
    ///
    /// # Errors
    ///
    /// Like [`get`](Self::get).
    pub fn update(&self, change: impl FnOnce(&mut T)) -> Result<T>
    where
        T: Default,
    {
        let mut value = self.get()?.unwrap_or_default();
        change(&mut value);
        self.set(&value)?;
        Ok(value)
    }
}
