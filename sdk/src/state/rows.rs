//! A collection within a transaction.

use std::{fmt, marker::PhantomData};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Entry, Item, Operation, Transaction, id_with_number,
    table::{Table, decode, encode},
};
use crate::Result;

/// A [`Collection`](super::Collection) within a [`Transaction`]: `NOTES.of(tx)`. It has the collection's methods and
/// errors, but writes take effect at the end of the transaction.
pub struct Rows<'a, T> {
    tx: &'a Transaction,
    table: Table,
    value: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for Rows<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rows").field(&self.table.name).finish()
    }
}

impl<'a, T> Rows<'a, T> {
    pub(super) fn new(table: Table, tx: &'a Transaction) -> Self {
        Self { tx, table, value: PhantomData }
    }

    /// Tests whether a row exists.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn contains(&self, id: &str) -> Result<bool> {
        Ok(self.read(&self.table.key(id)?)?.is_some())
    }

    /// Deletes a row; returns whether it existed.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn remove(&self, id: &str) -> Result<bool> {
        let key = self.table.key(id)?;
        let there = self.read(&key)?.is_some();
        if there {
            self.write(&key, Operation::Delete);
        }
        Ok(there)
    }

    /// A new id with this prefix: `n_0001`, then `n_0002`. As texts, the ids sort by age.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn next_id(&self, prefix: &str) -> Result<String> {
        let key = self.table.last();
        let last: u64 = self.read(&key)?.map(|json| decode(&key, &json)).transpose()?.unwrap_or_default();
        let next = last.saturating_add(1);
        self.tx.put(&key, next.to_string());
        Ok(id_with_number(prefix, next))
    }

    fn read(&self, key: &str) -> Result<Option<Vec<u8>>> {
        self.tx.takes(self.table.name, self.table.space)?;
        self.tx.get(key)
    }

    fn write(&self, key: &str, operation: Operation) {
        self.tx.write(key, operation);
        let change = self.table.change();
        self.tx.write(&change.key, change.operation);
    }

    /// Rows as they will be after the transaction.
    fn entries(&self, start: &str) -> Result<Vec<Entry>> {
        // Read first, so that any later write is a conflict.
        self.tx.takes(self.table.name, self.table.space)?;
        self.tx.see(&self.table.changed())?;
        let mut rows = self.table.all(start)?;
        for (key, value) in self.tx.written(&self.table.prefix(start)) {
            let at = rows.binary_search_by(|row| row.key.cmp(&key));
            match (at, value) {
                (Ok(at), Some(value)) => rows[at].value = value,
                (Ok(at), None) => drop(rows.remove(at)),
                (Err(at), Some(value)) => rows.insert(at, Entry::new(key, value, 0)),
                (Err(_), None) => {}
            }
        }
        Ok(rows)
    }
}

impl<T: Serialize + DeserializeOwned> Rows<'_, T> {
    /// Reads the value of an id, if it exists.
    ///
    /// # Errors
    ///
    /// `internal` if the value has another type; otherwise the host's errors.
    pub fn get(&self, id: &str) -> Result<Option<T>> {
        let key = self.table.key(id)?;
        self.read(&key)?.map(|json| decode(&key, &json)).transpose()
    }

    /// The value under an id.
    ///
    /// # Errors
    ///
    /// `not_found` if it does not exist; otherwise like [`get`](Self::get).
    pub fn require(&self, id: &str) -> Result<T> {
        self.get(id)?.ok_or_else(|| self.table.missing(id))
    }

    /// Adds a row.
    ///
    /// # Errors
    ///
    /// `conflict` if the id exists; otherwise the host's errors.
    pub fn insert(&self, id: &str, value: &T) -> Result<()> {
        if self.contains(id)? { Err(self.table.taken(id)) } else { self.put(id, value) }
    }

    /// Writes a row, replacing an existing one.
    ///
    /// # Errors
    ///
    /// `internal` if the value cannot be written as JSON.
    pub fn put(&self, id: &str, value: &T) -> Result<()> {
        self.tx.takes(self.table.name, self.table.space)?;
        let key = self.table.key(id)?;
        let json = encode(&key, value)?;
        self.write(&key, self.table.write(json));
        Ok(())
    }

    /// Adds a row under a new id, of which the value is made.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn create(&self, prefix: &str, make: impl FnOnce(&str) -> T) -> Result<T> {
        let id = self.next_id(prefix)?;
        let value = make(&id);
        self.insert(&id, &value)?;
        Ok(value)
    }

    /// Changes a row in place; returns the new value.
    ///
    /// # Errors
    ///
    /// `not_found` if it does not exist; otherwise like [`get`](Self::get).
    pub fn update(&self, id: &str, change: impl FnOnce(&mut T)) -> Result<T> {
        let mut value = self.require(id)?;
        change(&mut value);
        self.put(id, &value)?;
        Ok(value)
    }

    /// Lists all rows, ordered by id, including this transaction's writes.
    ///
    /// # Errors
    ///
    /// Like [`get`](Self::get).
    pub fn list(&self) -> Result<Vec<Item<T>>> {
        self.list_under("")
    }

    /// Lists all rows whose ids start with `start`; otherwise like [`list`](Self::list).
    ///
    /// # Errors
    ///
    /// Like [`get`](Self::get).
    pub fn list_under(&self, start: &str) -> Result<Vec<Item<T>>> {
        let item = |entry: Entry| Ok(Item::new(self.table.id(&entry.key), decode(&entry.key, &entry.value)?));
        self.entries(start)?.into_iter().map(item).collect()
    }
}
