//! Loggia: a folder of WebAssembly components, served as action-routed MCP tools.
//!
//! This crate composes the others. The call itself is in `loggia-gate`; `ARCHITECTURE.md` has the map of all crates.
//!
//! | module | contents | may import |
//! |---|---|---|
//! | [`config`] | policy files and `loggia.toml` as validated settings | |
//! | [`telemetry`] | logs, the audit file, metrics | `config` |
//! | [`load`] | from sources to the catalog | `config` |
//! | [`build`] | plugin sources to components, by cargo | `config`, `load` |
//! | [`mcp`] | the gate as an MCP server; with `serve` the only module that names rmcp | `config` |
//! | [`serve`] | transports, authentication, the admin listener, shutdown | `config`, `load`, `mcp`, `telemetry` |
//! | [`cli`] | one file for each command | all |
//!
//! `tests/rules` checks that modules import in one direction only.

pub mod build;
pub mod cli;
pub mod config;
pub mod load;
pub mod mcp;
pub mod serve;
pub mod telemetry;
