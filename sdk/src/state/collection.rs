//! Many values of one type.

use std::{fmt, marker::PhantomData, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Change, Entry, Item, Listing, Rows, Space, Transaction,
    table::{Table, decode, encode},
};
use crate::{Failure, Result, failure::code};

/// Values of one type, each under an id, kept as JSON under the keys `name/id`.
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
///     assert_eq!(TASKS.require("t_7").err().unwrap().message, "not found: there is no `t_7` in tasks");
///     TASKS.remove(&id)?;
///     Ok(())
/// }
/// # Host::new().store(&Store::new()).run(work).unwrap();
/// ```
///
/// Any text of at most about 1,000 bytes is an id, also one with slashes; [`next_id`](Self::next_id) makes new ones.
/// A field that is added to the type later needs `#[serde(default)]`, or what was kept before cannot be read
/// (`internal`, with the key's name).
///
/// Every method answers `denied` where the policy does not grant `store`; those that write also in a `read` action.
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
    /// Where the name is empty, longer than 64 bytes, or holds `/` or `#`: in a `static`, when the plugin is compiled.
    pub const fn new(name: &'static str) -> Self {
        Self { table: Table::new(name), value: PhantomData }
    }

    /// The same in the space of who called: each caller has its own rows.
    #[must_use]
    pub const fn in_caller_space(self) -> Self {
        Self { table: self.table.in_caller_space(), value: PhantomData }
    }

    /// The same, whose rows are gone so long after they were last written.
    #[must_use]
    pub const fn until(self, time: Duration) -> Self {
        Self { table: self.table.until(time), value: PhantomData }
    }

    /// The same, within a transaction.
    pub fn of<'a>(&self, tx: &'a Transaction) -> Rows<'a, T> {
        Rows::new(self.table, tx)
    }

    /// Whether there is such a row.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn contains(&self, id: &str) -> Result<bool> {
        Ok(self.entry(id)?.is_some())
    }

    /// Takes a row away; whether there was one.
    ///
    /// # Errors
    ///
    /// The host's.
    pub fn remove(&self, id: &str) -> Result<bool> {
        self.space().transaction(|tx| self.of(tx).remove(id))
    }

    /// A new id: `n_1`, then `n_2`, and so on, with this prefix. No two calls get the same one, and none that was once
    /// given out comes again.
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
    /// The value under an id, if there is one.
    ///
    /// # Errors
    ///
    /// `internal` where it is of another type; the host's.
    pub fn get(&self, id: &str) -> Result<Option<T>> {
        self.entry(id)?.map(|entry| decode(&entry.key, &entry.value)).transpose()
    }

    /// The values under these ids, all read at one moment; in the order of the ids. At most 1,000.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); `invalid_params` where the host gives no more than 8 MiB at once.
    pub fn get_many(&self, ids: &[String]) -> Result<Vec<Option<T>>> {
        let keys = ids.iter().map(|id| self.table.key(id)).collect::<Result<Vec<_>>>()?;
        let entries = self.space().get_many(keys)?.into_iter();
        entries.map(|entry| entry.map(|entry| decode(&entry.key, &entry.value)).transpose()).collect()
    }

    /// The value under an id.
    ///
    /// # Errors
    ///
    /// `not_found` where there is none; else as [`get`](Self::get).
    pub fn require(&self, id: &str) -> Result<T> {
        self.get(id)?.ok_or_else(|| self.table.missing(id))
    }

    /// Adds a row.
    ///
    /// # Errors
    ///
    /// `conflict` where there is one of that id; the host's.
    pub fn insert(&self, id: &str, value: &T) -> Result<()> {
        let key = self.table.key(id)?;
        let json = encode(&key, value)?;
        self.write(Change::new(key, self.table.write(json)).absent())
            .map_err(|failure| self.refused(id, failure))
    }

    /// Writes a row, over what may be there.
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

    /// Changes a row in place; what it now is. Where others change it at the same time, `change` runs again on what they
    /// wrote. One that may fail is a [`transaction`](super::transaction).
    ///
    /// # Errors
    ///
    /// `not_found` where there is none; else as [`get`](Self::get).
    pub fn update(&self, id: &str, mut change: impl FnMut(&mut T)) -> Result<T> {
        self.space().transaction(|tx| self.of(tx).update(id, &mut change))
    }

    /// All rows, ordered by id, as they were at one moment. Of what may grow large, give [pages](Self::page).
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); `conflict` where others write without end.
    pub fn list(&self) -> Result<Vec<Item<T>>> {
        self.list_under("")
    }

    /// All rows whose ids begin with `start`, such as `work/`; else as [`list`](Self::list).
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    pub fn list_under(&self, start: &str) -> Result<Vec<Item<T>>> {
        self.table.all(start)?.into_iter().map(|entry| self.item(entry)).collect()
    }

    /// At most `limit` rows, ordered by id: the first ones, or those after a cursor that an earlier page gave. What is
    /// added meanwhile before the cursor is not seen. The cursor tells the caller the last id.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
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
