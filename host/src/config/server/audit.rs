//! `[audit]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// Where the audit trail is kept: a line for each call, and for all that was refused or changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Audit {
    /// The file, which only its owner may read: lines of JSON are added to it. `{pid}` in its name becomes the number of the
    /// process. Without a file no trail is kept; `LOGGIA_LOG=info,loggia::audit=debug` shows it in the log all the same.
    pub file: Option<PathBuf>,
}
