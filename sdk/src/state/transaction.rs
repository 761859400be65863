//! Atomic reads and writes.

use std::cell::RefCell;

use super::{
    Change, Entry, Expect, Operation, Space,
    table::{ATTEMPTS, pause},
};
use crate::{Failure, Result, failure::code};

/// Runs atomic reads and writes in the shared space; see [`Transaction`]. For the caller's space use
/// `state::caller().transaction(…)`.
///
/// ```
/// # use loggia_sdk::{prelude::*, state::{self, Cell}, testing::{Host, Store}};
/// static ANNS: Cell<i64> = Cell::new("anns");
/// static BOBS: Cell<i64> = Cell::new("bobs");
///
/// fn pay(amount: i64) -> Result<i64> {
///     state::transaction(|tx| {
///         let anns = ANNS.of(tx).get()?.unwrap_or_default();
///         let bobs = BOBS.of(tx).get()?.unwrap_or_default();
///         if anns < amount {
///             return Err(Failure::conflict(format!("there are only {anns} left")));
///         }
///         ANNS.of(tx).set(&(anns - amount))?;
///         BOBS.of(tx).set(&(bobs + amount))?;
///         Ok(anns - amount)
///     })
/// }
/// # Host::new().store(&Store::new()).run(|| {
/// # ANNS.set(&10).unwrap();
/// # assert_eq!(pay(7), Ok(3));
/// # assert_eq!(pay(7).unwrap_err().message, "there are only 3 left");
/// # assert_eq!(BOBS.get(), Ok(Some(7)));
/// # });
/// ```
///
/// # Errors
///
/// Like [`Space::transaction`].
pub fn transaction<T>(attempt: impl FnMut(&Transaction) -> Result<T>) -> Result<T> {
    Space::Shared.transaction(attempt)
}

impl Space {
    /// Runs atomic reads and writes in this space; see [`Transaction`].
    ///
    /// # Errors
    ///
    /// The closure's error; `conflict` if concurrent changes persist; otherwise the host's failure, such as `denied`.
    pub fn transaction<T>(self, mut attempt: impl FnMut(&Transaction) -> Result<T>) -> Result<T> {
        let mut value = None;
        run(self, &mut |tx| {
            value = Some(attempt(tx)?);
            Ok(())
        })?;
        value.ok_or_else(|| Failure::internal("the transaction returned nothing"))
    }
}

/// Access to the state for the closure of a [`transaction`]: `NOTES.of(tx).get(id)`.
///
/// - Reads are cached: a key has the same value throughout.
/// - Writes are buffered until the closure ends, and visible to its later reads and lists. A closure that fails writes
///   nothing.
/// - At the end all writes are committed at once, unless anything that was read has changed. Then the closure runs
///   again from the start, up to 50 times in all; so it must only compute: no log lines that would be odd twice, no
///   requests.
/// - The closure's result, even a failure, is based on one consistent snapshot.
/// - New rows count as changes: a closure that listed a collection runs again if any row of it was added, changed or
///   removed. So "add it unless the title exists" is safe. This applies to writes through
///   [`Collection`](super::Collection); lists do not detect a [`Space::commit`] to a collection's keys.
/// - A row that expires is missing from later reads; that alone does not repeat a list.
#[derive(Debug)]
pub struct Transaction {
    space: Space,
    /// Ordered by key.
    keys: RefCell<Vec<Touched>>,
}

/// A key that the closure read or wrote.
#[derive(Debug)]
struct Touched {
    key: String,
    /// Entry that was read.
    seen: Option<Option<Entry>>,
    /// Pending write.
    write: Option<Operation>,
}

/// End of a transaction.
enum End {
    Done,
    /// A concurrent change of keys that were read.
    Moved,
}

fn run(space: Space, attempt: &mut dyn FnMut(&Transaction) -> Result<()>) -> Result<()> {
    let mut attempts = 1;
    loop {
        let tx = Transaction { space, keys: RefCell::default() };
        let end = match attempt(&tx) {
            Ok(()) => tx.commit()?,
            // A failure is valid only if its reads still hold.
            Err(failure) => match tx.check() {
                Ok(End::Moved) => End::Moved,
                _ => return Err(failure),
            },
        };
        match end {
            End::Done => return Ok(()),
            End::Moved if attempts < ATTEMPTS => pause(attempts),
            // These keys are meaningless to the caller.
            End::Moved => {
                return Err(Failure::conflict("too many concurrent changes")
                    .hint("Nothing was written: try again in a moment."));
            }
        }
        attempts += 1;
    }
}

impl Transaction {
    /// Reads a key, including this transaction's writes.
    ///
    /// # Errors
    ///
    /// Like [`Space::get`].
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        if let Ok(at) = self.find(key) {
            let touched = &self.keys.borrow()[at];
            match (&touched.write, &touched.seen) {
                (Some(Operation::Put(value) | Operation::PutUntil(value, _)), _) => {
                    return Ok(Some(value.clone()));
                }
                (Some(_), _) => return Ok(None),
                (None, Some(seen)) => return Ok(seen.as_ref().map(|entry| entry.value.clone())),
                (None, None) => {}
            }
        }
        let entry = self.space.get(key)?;
        let value = entry.as_ref().map(|entry| entry.value.clone());
        self.touch(key, |touched| touched.seen = Some(entry));
        Ok(value)
    }

    /// Reads several keys, including this transaction's writes; in the order of the keys. Makes one host call for all
    /// that are not cached, so request them together.
    ///
    /// # Errors
    ///
    /// Like [`Space::get_many`].
    pub fn get_many(&self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>> {
        let known = |key: &&String| {
            let keys = self.keys.borrow();
            self.find(key).is_ok_and(|at| keys[at].write.is_some() || keys[at].seen.is_some())
        };
        let mut wanted: Vec<String> = Vec::new();
        for key in keys.iter().filter(|key| !known(key)) {
            // Sorted, like the keys of this transaction.
            if let Err(place) = wanted.binary_search(key) {
                wanted.insert(place, key.clone());
            }
        }
        if !wanted.is_empty() {
            let entries = self.space.get_many(wanted.clone())?;
            for (key, entry) in wanted.iter().zip(entries) {
                self.touch(key, |touched| touched.seen = Some(entry));
            }
        }
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// Reads a key only for its version, even if it has a pending write.
    pub(super) fn see(&self, key: &str) -> Result<()> {
        if self.find(key).is_ok_and(|at| self.keys.borrow()[at].seen.is_some()) {
            return Ok(());
        }
        let entry = self.space.get(key)?;
        self.touch(key, |touched| touched.seen = Some(entry));
        Ok(())
    }

    /// Writes a value.
    pub fn put(&self, key: &str, value: impl Into<Vec<u8>>) {
        self.write(key, Operation::Put(value.into()));
    }

    /// Deletes a key if it exists.
    pub fn delete(&self, key: &str) {
        self.write(key, Operation::Delete);
    }

    pub(super) fn write(&self, key: &str, operation: Operation) {
        self.touch(key, |touched| touched.write = Some(operation));
    }

    /// Pending writes of keys that start with `prefix`.
    pub(super) fn written(&self, prefix: &str) -> Vec<(String, Option<Vec<u8>>)> {
        let keys = self.keys.borrow();
        let written = keys.iter().filter(|touched| touched.key.starts_with(prefix));
        written
            .filter_map(|touched| match touched.write.as_ref()? {
                Operation::Put(value) | Operation::PutUntil(value, _) => {
                    Some((touched.key.clone(), Some(value.clone())))
                }
                Operation::Delete | Operation::Check => Some((touched.key.clone(), None)),
            })
            .collect()
    }

    /// Checks that a collection of that space may be used here.
    ///
    /// # Errors
    ///
    /// `internal`: one commit is of one space.
    pub(super) fn takes(&self, name: &str, space: Space) -> Result<()> {
        if self.space == space {
            return Ok(());
        }
        let (here, there) = match space {
            Space::Shared => ("caller's", "shared"),
            Space::Caller => ("shared", "caller's"),
        };
        Err(Failure::internal(format!(
            "`{name}` is in the {there} space, but the transaction is in the {here}: each space has its own"
        )))
    }

    fn find(&self, key: &str) -> Result<usize, usize> {
        self.keys.borrow().binary_search_by(|touched| touched.key.as_str().cmp(key))
    }

    fn touch(&self, key: &str, act: impl FnOnce(&mut Touched)) {
        let at = self.find(key);
        let mut keys = self.keys.borrow_mut();
        let at = at.unwrap_or_else(|at| {
            keys.insert(at, Touched { key: key.to_owned(), seen: None, write: None });
            at
        });
        act(&mut keys[at]);
    }

    /// Commits all writes if the reads still hold.
    fn commit(self) -> Result<End> {
        if self.keys.borrow().iter().all(|touched| touched.write.is_none()) {
            return self.check();
        }
        let change = |touched: Touched| Change {
            key: touched.key,
            expect: touched.seen.map_or(Expect::Any, |seen| Expect::unchanged(seen.as_ref())),
            operation: touched.write.unwrap_or(Operation::Check),
        };
        match self.space.commit(self.keys.into_inner().into_iter().map(change).collect()) {
            Ok(_) => Ok(End::Done),
            Err(failure) if failure.code == code::CONFLICT => Ok(End::Moved),
            // More changes or bytes than the host accepts, which the caller can reduce.
            Err(failure) if failure.code == code::INVALID_PARAMS && failure.hint.is_none() => {
                Err(failure.hint("That is too much for one call: give less at once."))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Tests whether the reads still hold, without a commit, which a `read` action cannot make: versions never repeat,
    /// so if keys read together have the versions seen one by one, they had them together before.
    fn check(&self) -> Result<End> {
        let seen: Vec<(String, Expect)> = {
            let keys = self.keys.borrow();
            let seen = keys.iter().filter_map(|touched| Some((touched.key.clone(), touched.seen.as_ref()?)));
            seen.map(|(key, seen)| (key, Expect::unchanged(seen.as_ref()))).collect()
        };
        if seen.len() < 2 {
            return Ok(End::Done);
        }
        let now = self.space.get_many(seen.iter().map(|(key, _)| key.clone()).collect())?;
        let same = seen.iter().zip(&now).all(|((_, before), now)| *before == Expect::unchanged(now.as_ref()));
        Ok(if same { End::Done } else { End::Moved })
    }
}
