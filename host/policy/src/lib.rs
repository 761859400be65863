//! Parses and validates the operator's files: policies of plugins, and `loggia.toml`. Pure: the folder, the home folder
//! and the environment are parameters.
//!
//! | module | contents |
//! |---|---|
//! | [`document`] | TOML as values with line numbers, and problems |
//! | [`model`] | policies as data, which enforcement reads |
//! | [`grants`] | the section `[grants]`, one file per grant |
//! | [`limits`] | the section `[limits]`, one table |
//! | [`mod@file`] | whole policy files |
//! | [`settings`] | `loggia.toml` |
//! | [`clients`] | how each MCP client is served |
//! | [`words`] | words that settings and the command line share |

#![warn(unreachable_pub)]

pub mod clients;
pub mod document;
pub mod file;
pub mod grants;
pub mod limits;
pub mod model;
pub mod settings;
pub mod words;

pub use document::PolicySetting;
pub use file::PolicyError;
pub use model::{Policy, PolicyPaths};
