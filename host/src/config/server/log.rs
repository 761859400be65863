//! `[log]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is written to stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Log {
    /// How much. `LOGGIA_LOG` overrides it.
    pub level: Level,
    /// In which form.
    pub format: Format,
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words say it")]
pub enum Level {
    Off,
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

/// In which form logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A line of text each.
    #[default]
    Human,
    /// A JSON object on a line each.
    Json,
}
