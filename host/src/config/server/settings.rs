//! The file as a whole.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    admin::Admin,
    audit::Audit,
    auth::Auth,
    http::Http,
    log::Log,
    quantity::{Size, Span},
};
use crate::config::words::{FormWord, SplitWord};

/// What `loggia serve` takes. Relative paths start at the file.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The folder of plugins.
    pub folder: Option<PathBuf>,
    /// Where compiled plugins are kept; the platform's cache folder without it.
    pub cache: Option<PathBuf>,
    /// Where plugins keep their state; the platform's state folder without it.
    pub state: Option<PathBuf>,
    /// How deep plugins may recurse, in bytes of stack: 64KiB to 8MiB.
    pub wasm_stack: Size,
    /// How long calls and runs may go on after the server was told to end.
    pub drain: Span,
    /// The newest revision of MCP that clients are offered, for those that claim one which they do not speak.
    pub max_protocol_version: Option<Revision>,
    /// How tools are shown whose policies do not say.
    pub publish: Publish,
    /// What is written to stderr.
    pub log: Log,
    /// The audit trail.
    pub audit: Audit,
    /// Serving over HTTP; over stdio without it.
    pub http: Option<Http>,
    /// Who may call over HTTP.
    pub auth: Option<Auth>,
    /// The listener for who runs the server: health and metrics.
    pub admin: Option<Admin>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            folder: None,
            cache: None,
            state: None,
            wasm_stack: Size(512 << 10),
            drain: Span::seconds(25),
            max_protocol_version: None,
            publish: Publish::default(),
            log: Log::default(),
            audit: Audit::default(),
            http: None,
            auth: None,
            admin: None,
        }
    }
}

impl Settings {
    /// Who may call over HTTP; nobody is named where the file does not say.
    pub fn auth(&self) -> &Auth {
        static NONE: Auth = Auth { resource: None, tokens: Vec::new(), oauth: None };
        self.auth.as_ref().unwrap_or(&NONE)
    }
}

/// How tools are shown whose policies do not say.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Publish {
    /// What tools show of their actions.
    pub schema: FormWord,
    /// Whether what only reads is a tool of its own.
    pub split: SplitWord,
    /// What the whole tool list may take, in tokens: facades are shown in shorter forms until it fits.
    pub token_budget: Option<usize>,
}

/// A revision of MCP, by its date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema, clap::ValueEnum)]
pub enum Revision {
    /// The first with structured results.
    #[serde(rename = "2025-06-18")]
    #[value(name = "2025-06-18")]
    June2025,
    /// The last with sessions.
    #[serde(rename = "2025-11-25")]
    #[value(name = "2025-11-25")]
    November2025,
    /// Without sessions.
    #[serde(rename = "2026-07-28")]
    #[value(name = "2026-07-28")]
    July2026,
}
