//! State that outlives a call: kept by the host, on disk, for this plugin alone.
//!
//! The policy grants it: `store = true`, or `store = { quota = "16MiB" }`. Without that, all of this answers `denied`,
//! and so does every write while a `read` action runs.
//!
//! Most plugins need no more than a [`Collection`] for the things they hold and [`transaction`] for what must happen as
//! one:
//!
//! ```
//! use loggia_sdk::{prelude::*, state::Collection, testing::{Host, Store}};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Note {
//!     id: String,
//!     text: String,
//! }
//!
//! static NOTES: Collection<Note> = Collection::new("notes");
//!
//! struct Notes;
//!
//! /// Notes.
//! #[facade]
//! impl Notes {
//!     /// Add a note.
//!     #[action(write)]
//!     fn add(&self, text: String) -> Result<Note> {
//!         NOTES.create("n_", |id| Note { id: id.into(), text: text.clone() })
//!     }
//!
//!     /// List the notes, so many at a time.
//!     #[action(read)]
//!     fn list(&self, #[param(default = 20)] limit: u32, cursor: Option<String>) -> Result<Reply<Vec<Note>>> {
//!         Ok(NOTES.page(cursor.as_deref(), limit)?.reply())
//!     }
//! }
//!
//! let host = Host::new().store(&Store::new());
//! host.call(&Notes, "add", json!({"text": "Milk."})).unwrap();
//! let reply = host.call(&Notes, "list", json!({})).unwrap();
//! assert_eq!(reply.data, json!([{"id": "n_1", "text": "Milk."}]));
//! ```
//!
//! | | |
//! |---|---|
//! | [`Collection`] | many values of one type, each under an id |
//! | [`Cell`], [`Counter`] | one value; a number that only goes up |
//! | [`transaction`] | reads and writes that happen as one, or not at all |
//! | [`shared`], [`caller`] | keys and bytes, below all that |
//!
//! There are two spaces: one that all callers share, and one for each caller, which the others do not see. A caller
//! whom the host does not know has no space of its own: `denied`.

mod cell;
mod collection;
mod counter;
mod data;
mod listing;
mod newest;
mod rows;
mod table;
mod transaction;

pub use cell::{Cell, Slot};
pub use collection::Collection;
pub use counter::{Count, Counter};
pub use data::{Change, Entries, Entry, Expect, Operation};
pub use listing::{Item, Listing};
pub use rows::Rows;
pub use transaction::{Transaction, transaction};

use crate::{Failure, Result, host::port};

/// The space that all callers share.
pub const fn shared() -> Space {
    Space::Shared
}

/// The space of who called, which no other caller sees.
pub const fn caller() -> Space {
    Space::Caller
}

/// Whose state. What the plugin keeps, as keys and bytes; see [`Collection`] for something more pleasant.
///
/// Keys are UTF-8, at most 1 KiB, ordered by their bytes. Collections use keys of the form `name/…` and `name#…`.
///
/// ```
/// # use loggia_sdk::{prelude::*, state::{self, Change}, testing::{Host, Store}};
/// # fn run() -> Result<()> {
/// let space = state::shared();
/// space.commit(vec![Change::put("greeting", "Good morning.")])?;
/// let entry = space.get("greeting")?.ok_or(Failure::not_found("not found"))?;
/// assert_eq!(entry.value, b"Good morning.");
///
/// // Only if nobody has changed it since.
/// space.commit(vec![Change::delete("greeting").at(entry.version)])?;
/// # Ok(())
/// # }
/// # Host::new().store(&Store::new()).run(run).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// The plugin's, for all callers alike.
    Shared,
    /// Of who called.
    Caller,
}

impl Space {
    /// What is kept under a key.
    ///
    /// # Errors
    ///
    /// `denied` where the policy grants no state; `unavailable` where the state is busy.
    pub fn get(self, key: &str) -> Result<Option<Entry>> {
        let mut entries = self.get_many(vec![key.to_owned()])?;
        Ok(entries.pop().flatten())
    }

    /// What is kept under several keys, all read at one moment; in the order of the keys.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn get_many(self, keys: Vec<String>) -> Result<Vec<Option<Entry>>> {
        let wanted = keys.len();
        let entries = port::state_get(self, keys)?;
        if entries.len() == wanted { Ok(entries) } else { Err(Failure::internal("the host gave no answer")) }
    }

    /// Entries whose keys begin with `prefix`, ordered by key: those after the key `after`, at most `limit` of them; the
    /// host may give fewer, and says by [`Entries::more`] whether there are further ones.
    ///
    /// With `at`, the [`Entries::revision`] of an earlier part, it is of the same state as that part, or a `conflict`.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); `conflict` where the state has changed since `at`.
    pub fn scan(self, prefix: &str, after: Option<&str>, limit: u32, at: Option<u64>) -> Result<Entries> {
        port::state_scan(self, prefix, after, limit, at)
    }

    /// Makes all these changes, or, where one key is not as it is expected to be, none. Gives the version that the
    /// written keys now have.
    ///
    /// # Errors
    ///
    /// `conflict`, which names the keys that were not as expected; `denied` where the policy grants no state or the
    /// action is a `read` one; the host's failure where a key or a value is too large or the quota is used up.
    pub fn commit(self, changes: Vec<Change>) -> Result<u64> {
        port::state_commit(self, changes)
    }
}
