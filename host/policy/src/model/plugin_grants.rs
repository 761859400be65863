//! The grants of a policy, as data.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::Value;

/// Grants of a policy. Empty by default: nothing is granted unless it is named.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PluginGrants {
    /// Directories, each under its own path in the guest.
    pub dirs: Vec<DirGrant>,
    /// Requests that it may send.
    pub http: loggia_egress::EgressGrants,
    /// Environment variables of the guest.
    pub env: BTreeMap<String, String>,
    /// Answers of `config`: JSON by key.
    pub config: BTreeMap<String, Value>,
    /// Quota of durable state, in bytes.
    pub store: Option<u64>,
    /// Grants an opaque name of the caller.
    pub caller: bool,
}

/// One directory of the host, given to a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirGrant {
    /// On the host; absolute.
    pub path: PathBuf,
    /// Path in the guest, for example `/notes`.
    pub at: String,
    /// Grants writing. A `read` action never may.
    pub writable: bool,
}
