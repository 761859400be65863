//! `[audit]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// The audit trail: one line for each call, each refusal, and each change of plugins, policies and tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Audit {
    /// A file of JSON lines that only its owner may read. `{pid}` in its name becomes the process id. Default: no trail;
    /// `LOGGIA_LOG=info,loggia::audit=debug` writes the same lines to the log.
    pub file: Option<PathBuf>,
}
