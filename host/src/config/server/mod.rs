//! `loggia.toml`: all that a server takes, as one validated value. Flags override it.
//!
//! The structs are the grammar: what the file may hold, its JSON Schema and its reference come from them alone.
//!
//! | file | concept |
//! |---|---|
//! | `settings.rs` | the file as a whole |
//! | `http.rs`, `auth.rs`, `admin.rs`, `audit.rs`, `log.rs` | a table of the file each |
//! | `quantity.rs` | sizes and times in it |
//! | `bounds.rs` | what a value must be beside its kind |
//! | `reference.rs` | all of it as a page |
//! | `grammar.rs` | what may stand where, by the JSON Schema |
//! | `place.rs` | where something is wrong |
//! | `read.rs` | from the file's text to settings, or all that is wrong |

mod admin;
mod audit;
mod auth;
mod bounds;
mod grammar;
mod http;
mod log;
mod place;
mod quantity;
mod read;
mod reference;
mod settings;
#[cfg(test)]
mod tests;

pub use admin::Admin;
pub use audit::Audit;
pub use auth::{Algorithm, Auth, OAuth, Token};
pub use http::{Http, PerCaller};
pub use log::{Format, Level, Log};
pub use place::{Mistake, Place};
pub use quantity::{Size, Span};
pub use read::{Reading, SettingsError};
pub use reference::reference;
pub use settings::{Publish, Revision, Settings};
