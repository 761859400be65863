//! Directories: which, how they may be used, and how much of them a call may write and hold open.
//!
//! WASI's file functions are wasmtime-wasi's; this module stands in front of them, counts, and runs them on threads that
//! may block, at the call's expense. Opening and streams are its own. A directory costs a call nothing until the guest asks
//! which ones there are.
//!
//! | module | contents |
//! |---|---|
//! | `access` | the capability, and the files of one call |
//! | `root` | a granted directory, opened |
//! | `call_dirs` | the directories of one call |
//! | `client_roots` | directories that the client of a call names, opened and checked |
//! | `root_names` | their guest paths |
//! | `quota` | what a call has written and holds open |
//! | `view` | the files of a call while one of the functions runs |
//! | `link` | *init* |
//! | `host` | the functions, with our limits in front |
//! | `blocking` | runs wasmtime-wasi's functions on threads that may block |
//! | `directory` | opens a directory, and counts its entries |
//! | `open`, `streams` | opening, reading and writing |
//! | `position` | reads and writes at a position, which each system does differently |

mod access;
mod blocking;
mod call_dirs;
mod client_roots;
mod directory;
mod host;
mod link;
mod open;
mod position;
mod quota;
mod root;
mod root_names;
mod streams;
mod view;

pub(super) use access::{FileAccess, FsCapability};
pub(crate) use client_roots::OpenedRoots;
pub(super) use link::init;
pub(crate) use view::{FileView, FsView};
