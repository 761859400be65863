//! Loggia: a folder of WebAssembly components, served as action-routed MCP tools.
//!
//! This crate composes the others. The call itself is in `loggia-gate`; `ARCHITECTURE.md` has the map of all crates.
//!
//! | module | contents | may import |
//! |---|---|---|
//! | [`places`] | default folders, and the environment of the operator's files | |
//! | [`shared_credentials`] | credentials of callers in a database | |
//! | [`caller_vault`] | credentials of callers, by their names | `shared_credentials` |
//! | [`login`] | logins of callers, by a browser | `caller_vault` |
//! | [`revocations`] | revoked tokens, as recorded | |
//! | [`telemetry`] | logs, the audit file, metrics | |
//! | [`load`] | from sources to the catalog | `places`, `caller_vault`, `login`, `recording` |
//! | [`build`] | plugin sources to components, by cargo | `places`, `load` |
//! | `form_fields` | pure: the fields of a question's form | |
//! | [`cases`] | calls of a plugin with what they are expected to answer | |
//! | [`recording`] | calls with what they received, run again | `cases` |
//! | [`serve`] | the running host: assembly, the admin listener, shutdown | `form_fields`, `load`, `login`, `revocations`, `telemetry` |
//! | [`cli`] | one file for each command | all |
//!
//! `tests/rules` checks that modules import in one direction only.

pub mod build;
pub mod caller_vault;
pub mod cases;
pub mod cli;
mod form_fields;
pub mod load;
pub mod login;
pub mod places;
pub mod recording;
pub mod revocations;
pub mod serve;
pub mod shared_credentials;
pub mod telemetry;
