//! `loggia.toml`: all settings of a server as one validated value. Flags override it.
//!
//! Each key is one entry of a table: name, type, default, bounds and text. The structs, the parser, the JSON Schema and the
//! reference page are generated from these entries. Values and messages are those of [`document`](crate::document).
//!
//! | file | concept |
//! |---|---|
//! | `root_table.rs`, `http.rs`, `auth.rs`, `approvals.rs`, `telemetry.rs`, `state_storage.rs` | the tables of the file |
//! | `card.rs`, `card_values.rs` | `[card]` and its values |
//! | `credential.rs` | the values of `[auth]` |
//! | `upstream.rs`, `login_server.rs`, `service.rs`, `profile.rs`, `guard.rs`, `trust.rs` | `[upstream.NAME]`, `[login.NAME]`, `[service.NAME]`, `[profile.NAME]`, `[guards.NAME]`, `[trust.NAME]` |
//! | `plugin_manifest.rs` | `plugin.toml`, another file of the same kind |
//! | `named_tables.rs` | tables whose names the operator chooses |
//! | `table.rs`, `kind.rs` | declaration of tables, and tables as data |
//! | `web_url.rs` | URLs of servers |
//! | `value.rs`, `quantity.rs` | parsing of each type |
//! | `read.rs` | parses a file to settings, or reports all problems |
//! | `schema.rs`, `reference.rs` | the tables as JSON Schema and as a page |

mod approvals;
mod auth;
mod card;
mod card_values;
pub mod credential;
mod guard;
mod http;
mod kind;
mod login_server;
mod named_tables;
mod plugin_manifest;
mod profile;
mod quantity;
mod read;
mod reference;
mod root_table;
mod schema;
mod service;
mod state_storage;
mod table;
mod telemetry;
#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests compare and write the pages of the repository")]
mod tests;
mod trust;
mod upstream;
mod value;
mod web_url;

pub use self::{
    approvals::Approvals,
    auth::{Algorithm, Auth, OAuth, Token},
    card::{CardIcon, CardProfile, CardSettings},
    card_values::{CardRepository, CardUrl, IconTheme, IconType},
    credential::{JwksLocation, ResourceUrl},
    guard::{ALL_FACADES, Guard, GuardConfig},
    http::{Http, PerCaller},
    login_server::{EndpointUrl, LoginServer},
    plugin_manifest::PluginManifest,
    profile::Profile,
    quantity::{Size, Span},
    read::{SettingsError, SettingsReading},
    reference::{manifest_reference, reference},
    root_table::{Admin, Audit, Format, FullAudit, Level, Log, PinMode, Publish, Revision, Settings},
    service::Service,
    state_storage::StateStorage,
    telemetry::{CollectorUrl, SampleShare, Telemetry},
    trust::Trust,
    upstream::{HiddenText, ToolOverride, Upstream},
};
