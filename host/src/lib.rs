//! Loggia: a folder of WebAssembly components, served as action-routed MCP tools.
//!
//! This crate is the command line. `loggia-serve` runs the host, `loggia-load` loads facades, and the call itself is in
//! `loggia-gate`; `ARCHITECTURE.md` has the map of all crates.
//!
//! | module | contents |
//! |---|---|
//! | [`cli`] | one file for each command |

pub mod cli;
