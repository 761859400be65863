//! Durable key-value state of plugins: one SQLite file each, shared safely by several host processes.

mod data;

pub use data::{Change, Entries, Entry, Expect, Operation, Space, StateError};
