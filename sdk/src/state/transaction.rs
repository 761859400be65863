//! Reads and writes that happen as one.

use std::cell::RefCell;

use super::{
    Change, Entry, Expect, Operation, Space,
    table::{ATTEMPTS, pause},
};
use crate::{Failure, Result, failure::code};

/// Reads and writes in the shared space that happen as one, or not at all; see [`Transaction`]. The space of who called
/// has its own: `state::caller().transaction(…)`.
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
/// As [`Space::transaction`].
pub fn transaction<T>(attempt: impl FnMut(&Transaction) -> Result<T>) -> Result<T> {
    Space::Shared.transaction(attempt)
}

impl Space {
    /// Reads and writes in this space that happen as one, or not at all; see [`Transaction`].
    ///
    /// # Errors
    ///
    /// What the closure returns; `conflict` where others kept changing what it read; else the host's failure, such as
    /// `denied`.
    pub fn transaction<T>(self, mut attempt: impl FnMut(&Transaction) -> Result<T>) -> Result<T> {
        let mut value = None;
        run(self, &mut |tx| {
            value = Some(attempt(tx)?);
            Ok(())
        })?;
        value.ok_or_else(|| Failure::internal("the transaction gave nothing"))
    }
}

/// What a closure given to [`transaction`] reads and writes by: `NOTES.of(tx).get(id)`.
///
/// - What is read is remembered: a key is the same however often it is read.
/// - What is written stays here until the closure ends, and later reads and lists of the closure see it. A closure that
///   fails writes nothing.
/// - At the end all is written at once, if nothing that was read has changed meanwhile. If something has, the closure
///   runs again from the start, up to 50 times in all; so it must do nothing else than compute: no log lines that
///   would be odd twice, no requests.
/// - What the closure returns, a failure too, was decided on what was true at one moment.
/// - Rows that appear meanwhile count as well: a closure that listed a collection runs again if any row of it was added,
///   changed or removed. So "is there one with this title? then add it" is safe. That holds for writes through
///   [`Collection`](super::Collection); a [`Space::commit`] to a collection's keys goes unseen by lists.
/// - A row that expires is gone for later reads; that alone does not make a list run again.
#[derive(Debug)]
pub struct Transaction {
    space: Space,
    /// Ordered by key.
    keys: RefCell<Vec<Touched>>,
}

/// A key that the closure has to do with.
#[derive(Debug)]
struct Touched {
    key: String,
    /// What was there, if it was read.
    seen: Option<Option<Entry>>,
    /// What is to be there, if it is written.
    write: Option<Operation>,
}

/// How a transaction ended.
enum End {
    Done,
    /// Somebody else changed what was read.
    Moved,
}

fn run(space: Space, attempt: &mut dyn FnMut(&Transaction) -> Result<()>) -> Result<()> {
    let mut attempts = 1;
    loop {
        let tx = Transaction { space, keys: RefCell::default() };
        let end = match attempt(&tx) {
            Ok(()) => tx.commit()?,
            // It stands only if what it was decided on holds.
            Err(failure) => match tx.check() {
                Ok(End::Moved) => End::Moved,
                _ => return Err(failure),
            },
        };
        match end {
            End::Done => return Ok(()),
            End::Moved if attempts < ATTEMPTS => pause(attempts),
            // Which keys these are says nothing to who called.
            End::Moved => {
                return Err(Failure::conflict("others keep changing the same thing")
                    .hint("Nothing was written: try again in a moment."));
            }
        }
        attempts += 1;
    }
}

impl Transaction {
    /// What is kept under a key, and what this transaction has written there.
    ///
    /// # Errors
    ///
    /// As [`Space::get`].
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

    /// What is kept under several keys, and what this transaction has written there; in the order of the keys. Asks the
    /// host once for all that it has not read yet, so ask for all at once.
    ///
    /// # Errors
    ///
    /// As [`Space::get_many`].
    pub fn get_many(&self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>> {
        let known = |key: &&String| {
            let keys = self.keys.borrow();
            self.find(key).is_ok_and(|at| keys[at].write.is_some() || keys[at].seen.is_some())
        };
        let mut wanted: Vec<String> = Vec::new();
        for key in keys.iter().filter(|key| !known(key)) {
            // Kept in order, as the keys of this transaction are.
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

    /// Reads a key for its version alone, also where it is written.
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

    /// Takes a key away, if it is there.
    pub fn delete(&self, key: &str) {
        self.write(key, Operation::Delete);
    }

    pub(super) fn write(&self, key: &str, operation: Operation) {
        self.touch(key, |touched| touched.write = Some(operation));
    }

    /// The keys that begin with `prefix` and are written, with what is written there.
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

    /// What a collection of that space may do here.
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

    /// Writes all, if what was read is as it was.
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
            // It is of more changes or bytes than the host takes, which who called can help.
            Err(failure) if failure.code == code::INVALID_PARAMS && failure.hint.is_none() => {
                Err(failure.hint("That is too much for one call: give less at once."))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Whether what was read is as it was. Without a commit, which a `read` action may not do: versions never repeat, so
    /// keys that, read together, have the versions seen one by one had them together before.
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
