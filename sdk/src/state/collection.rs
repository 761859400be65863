//! Many values of one type.

use std::{fmt, marker::PhantomData, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Change, Entry, Item, Listing, Rows, Space, Transaction,
    table::{Table, decode, encode},
};
use crate::{Failure, Result, failure::code};

/// Values of one type by id, stored as JSON under the keys `name/id`.
///
/// ```
/// # use loggia_sdk::{prelude::*, state::Collection, testing::{Host, Store}};
/// #[derive(Serialize, Deserialize)]
/// struct Task {
///     title: String,
///     done: bool,
/// }
///
/// static TASKS: Collection<Task> = Collection::new("tasks");
///
/// fn work() -> Result<()> {
///     let id = TASKS.next_id("t_")?;
///     TASKS.insert(&id, &Task { title: "Buy milk".into(), done: false })?;
///     TASKS.update(&id, |task| task.done = true)?;
///     assert!(TASKS.require(&id)?.done);
///     assert_eq!(TASKS.require("t_0007").err().unwrap().message, "not found: there is no `t_0007` in tasks");
///     TASKS.remove(&id)?;
///     Ok(())
/// }
/// # Host::new().store(&Store::new()).run(work).unwrap();
/// ```
///
/// Any text of at most about 1,000 bytes can be an id, even with slashes; [`next_id`](Self::next_id) generates ids. A
/// field that is added to the type later needs `#[serde(default)]`, or older rows cannot be read (`internal`, with the
/// key's name).
///
/// Every method returns `denied` if the policy does not grant `store`; writing methods also do in a `read` action.
pub struct Collection<T> {
    pub(super) table: Table,
    value: PhantomData<fn() -> T>,
}

impl<T> Clone for Collection<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Collection<T> {}

impl<T> fmt::Debug for Collection<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Collection").field(&self.table.name).finish()
    }
}

impl<T> Collection<T> {
    /// The collection of that name, in the shared space.
    ///
    /// # Panics
    ///
    /// If the name is empty, longer than 64 bytes, or contains `/` or `#`: for a `static`, at compile time.
    pub const fn new(name: &'static str) -> Self {
        Self { table: Table::new(name), value: PhantomData }
    }

    /// Uses the caller's space: each caller has its own rows.
    #[must_use]
    pub const fn in_caller_space(self) -> Self {
        Self { table: self.table.in_caller_space(), value: PhantomData }
    }

    /// Sets a time to live for rows, counted from the last write.
    #[must_use]
    pub const fn until(self, time: Duration) -> Self {
        Self { table: self.table.until(time), value: PhantomData }
    }

    /// Returns the collection within a transaction.
    pub fn of<'a>(&self, tx: &'a Transaction) -> Rows<'a, T> {
        Rows::new(self.table, tx)
    }

    /// Tests whether a row exists.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn contains(&self, id: &str) -> Result<bool> {
        Ok(self.entry(id)?.is_some())
    }

    /// Deletes a row; returns whether it existed.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn remove(&self, id: &str) -> Result<bool> {
        self.space().transaction(|tx| self.of(tx).remove(id))
    }

    /// Generates an id with this prefix: `n_0001`, then `n_0002`, and so on. Ids are unique across calls and never reused;
    /// as texts, they sort by age.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn next_id(&self, prefix: &str) -> Result<String> {
        self.space().transaction(|tx| self.of(tx).next_id(prefix))
    }

    pub(super) fn space(&self) -> Space {
        self.table.space
    }

    fn entry(&self, id: &str) -> Result<Option<Entry>> {
        self.space().get(&self.table.key(id)?)
    }

    fn write(&self, change: Change) -> Result<()> {
        self.space().commit(vec![change, self.table.change()]).map(drop)
    }
}

impl<T: Serialize + DeserializeOwned> Collection<T> {
    /// Reads the value of an id, if it exists.
    ///
    /// # Errors
    ///
    /// `internal` if the value has another type; otherwise the host's errors.
    pub fn get(&self, id: &str) -> Result<Option<T>> {
        self.entry(id)?.map(|entry| decode(&entry.key, &entry.value)).transpose()
    }

    /// Reads the values of these ids in one snapshot; in the order of the ids. At most 1,000.
    ///
    /// # Errors
    ///
    /// Like [`get`](Self::get); `invalid_params` above the host's limit of 8 MiB.
    pub fn get_many(&self, ids: &[String]) -> Result<Vec<Option<T>>> {
        let keys = ids.iter().map(|id| self.table.key(id)).collect::<Result<Vec<_>>>()?;
        let entries = self.space().get_many(keys)?.into_iter();
        entries.map(|entry| entry.map(|entry| decode(&entry.key, &entry.value)).transpose()).collect()
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
        let key = self.table.key(id)?;
        let json = encode(&key, value)?;
        self.write(Change::new(key, self.table.write(json)).absent())
            .map_err(|failure| self.refused(id, failure))
    }

    /// Writes a row, replacing an existing one.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn put(&self, id: &str, value: &T) -> Result<()> {
        let key = self.table.key(id)?;
        let json = encode(&key, value)?;
        self.write(Change::new(key, self.table.write(json)))
    }

    /// Adds a row under a [new id](Self::next_id), of which the value is made.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn create(&self, prefix: &str, mut make: impl FnMut(&str) -> T) -> Result<T> {
        self.space().transaction(|tx| self.of(tx).create(prefix, &mut make))
    }

    /// Changes a row in place; returns the new value. On a conflict, `change` runs again on the current value. For
    /// changes that may fail use a [`transaction`](super::transaction).
    ///
    /// # Errors
    ///
    /// `not_found` if it does not exist; otherwise like [`get`](Self::get).
    pub fn update(&self, id: &str, mut change: impl FnMut(&mut T)) -> Result<T> {
        self.space().transaction(|tx| self.of(tx).update(id, &mut change))
    }

    /// Lists all rows, ordered by id, in one snapshot. For large collections use [pages](Self::page).
    ///
    /// # Errors
    ///
    /// Like [`get`](Self::get); `conflict` if concurrent writes never pause.
    pub fn list(&self) -> Result<Vec<Item<T>>> {
        self.list_under("")
    }

    /// Lists all rows whose ids start with `start`, such as `work/`; otherwise like [`list`](Self::list).
    ///
    /// # Errors
    ///
    /// Like [`list`](Self::list).
    pub fn list_under(&self, start: &str) -> Result<Vec<Item<T>>> {
        self.table.all(start)?.into_iter().map(|entry| self.item(entry)).collect()
    }

    /// Lists at most `limit` rows, ordered by id: the first ones, or those after the cursor of an earlier page. Rows
    /// that are added before the cursor are not seen. The cursor reveals the last id to the caller.
    ///
    /// # Errors
    ///
    /// Like [`get`](Self::get).
    pub fn page(&self, cursor: Option<&str>, limit: u32) -> Result<Listing<T>> {
        let after = cursor.map(|id| self.table.prefix(id));
        let part = self.space().scan(&self.table.prefix(""), after.as_deref(), limit.max(1), None)?;
        let items = part.items.into_iter().map(|entry| self.item(entry)).collect::<Result<Vec<_>>>()?;
        let cursor = items.last().filter(|_| part.more).map(|item| item.id.clone());
        Ok(Listing::new(items, cursor))
    }

    fn item(&self, entry: Entry) -> Result<Item<T>> {
        Ok(Item::new(self.table.id(&entry.key), decode(&entry.key, &entry.value)?))
    }

    fn refused(&self, id: &str, failure: Failure) -> Failure {
        if failure.code == code::CONFLICT { self.table.taken(id) } else { failure }
    }
}
