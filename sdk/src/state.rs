//! Persistent state: stored by the host, on disk, for this plugin only.
//!
//! The policy grants it: `store = true`, or `store = { quota = "16MiB" }`. Otherwise all operations return `denied`,
//! and so do writes in a `read` action.
//!
//! Most plugins only need a [`Collection`] for their data and [`transaction`] for atomic changes:
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
//! assert_eq!(reply.data, json!([{"id": "n_0001", "text": "Milk."}]));
//! ```
//!
//! | | |
//! |---|---|
//! | [`Collection`] | many values of one type, each under an id |
//! | [`Cell`], [`Counter`] | one value; a number that only goes up |
//! | [`transaction`] | atomic reads and writes |
//! | [`shared`], [`caller`] | keys and bytes, below all that |
//!
//! There are two spaces: one that all callers share, and one for each caller, which is invisible to the others. An
//! anonymous caller has no space: `denied`.

mod cell;
mod collection;
mod counter;
mod data;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod double;
#[cfg(target_family = "wasm")]
mod guest;
mod ids;
mod listing;
mod newest;
mod rows;
mod table;
mod transaction;

pub use cell::{Cell, Slot};
pub use collection::Collection;
pub use counter::{Count, Counter};
pub use data::{Change, Entries, Entry, Expect, Operation};
pub use ids::{id_with_number, number_in_id};
pub use listing::{Item, Listing};
pub use rows::Rows;
pub use transaction::{Transaction, transaction};

#[cfg(not(target_family = "wasm"))]
use self::double as port;
#[cfg(target_family = "wasm")]
use self::guest as port;
use crate::{Failure, Result};

/// The space that all callers share.
pub const fn shared() -> Space {
    Space::Shared
}

/// The caller's space, invisible to other callers.
pub const fn caller() -> Space {
    Space::Caller
}

/// A space of the state. Low-level access by keys and bytes; prefer [`Collection`].
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
    /// The caller's.
    Caller,
}

impl Space {
    /// Reads a key.
    ///
    /// # Errors
    ///
    /// `denied` if the policy grants no state; `unavailable` where the state is busy.
    pub fn get(self, key: &str) -> Result<Option<Entry>> {
        let mut entries = self.get_many(vec![key.to_owned()])?;
        Ok(entries.pop().flatten())
    }

    /// Reads several keys in one snapshot; in the order of the keys.
    ///
    /// # Errors
    ///
    /// Like [`get`](Self::get).
    pub fn get_many(self, keys: Vec<String>) -> Result<Vec<Option<Entry>>> {
        let wanted = keys.len();
        let entries = port::get(self, keys)?;
        if entries.len() == wanted { Ok(entries) } else { Err(Failure::internal("the host gave no answer")) }
    }

    /// Scans entries whose keys start with `prefix`, ordered by key: those after the key `after`, at most `limit`; the
    /// host may return fewer, and sets [`Entries::more`] if there are more.
    ///
    /// With `at`, the [`Entries::revision`] of an earlier part, the result is from the same state as that part, or a
    /// `conflict`.
    ///
    /// # Errors
    ///
    /// Like [`get`](Self::get); `conflict` if the state has changed since `at`.
    pub fn scan(self, prefix: &str, after: Option<&str>, limit: u32, at: Option<u64>) -> Result<Entries> {
        port::scan(self, prefix, after, limit, at)
    }

    /// Makes all changes, or none if a key does not meet its expectation. Returns the version of the written keys.
    ///
    /// # Errors
    ///
    /// `conflict`, with the keys that did not meet their expectations; `denied` if the policy grants no state or the
    /// action is a `read` one; the host's failure if a key or value is too large or the quota is exhausted.
    pub fn commit(self, changes: Vec<Change>) -> Result<u64> {
        port::commit(self, changes)
    }
}
