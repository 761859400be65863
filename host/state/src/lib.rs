//! Durable key-value state of plugins: one SQLite file each, shared safely by several host processes, or what else implements
//! the port in [`backend`].
//!
//! A [`StateFolder`] holds the stores of all plugins; a [`StateStore`] is one plugin's. All functions block, mostly for microseconds, a
//! commit until it is on the disk; a caller that must not block uses a thread.
//!
//! An acknowledged commit is on the disk: it survives `kill -9` and a power failure. Several processes may use one
//! store at once; a commit waits for another's, at most five seconds ([`StateError::Busy`]). The folder must be on a
//! local disk: SQLite's log does not work over network file systems.
//!
//! An expired entry is invisible at once and does not count for the quota; later commits remove such entries, some at a time.
//! Expiry is no write: it changes no revision, so a scan in pages may lose entries that expire between two pages. All processes
//! that share a store use the machine's clock.

#![warn(unreachable_pub)]

pub mod backend;
mod changes;
mod clock;
mod commit;
mod connection;
mod data;
mod error;
mod export;
mod file;
mod folder;
mod import;
mod limits;
mod line;
mod list;
mod pool;
mod read;
mod records;
mod row;
mod schema;
mod secret;
mod sqlite;
mod store;
mod sweep;
#[cfg(feature = "testing")]
pub mod testing;

pub use changes::{CHANGED_BYTES, ChangeMark, ChangedKey, SpaceChanges};
pub use clock::StateClock;
pub use connection::open_database;
pub use data::{
    ChangeCondition, ChangeOperation, StateChange, StateEntry, StateError, StatePage, StateSpace,
};
pub use folder::StateFolder;
pub use import::ImportReport;
pub use limits::{
    COMMIT_BYTES, COMMIT_CHANGES, GET_BYTES, GET_KEYS, KEY_BYTES, OVERHEAD, PAGE_BYTES, PAGE_ENTRIES,
    VALUE_BYTES,
};
pub use list::{ListedEntry, StoreUsage};
pub use records::HostRecords;
pub use store::StateStore;
