//! Grants of a policy as data.

use std::{collections::BTreeMap, path::PathBuf};

use loggia_egress::SecretSource;
use serde_json::Value;

/// Grants of a policy. Empty by default: nothing is granted unless it is named.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PluginGrants {
    /// Directories, each mounted at its own path in the guest.
    pub dirs: Vec<DirGrant>,
    /// HTTP requests that it may send, and their secrets.
    pub http: loggia_egress::EgressGrants,
    /// Environment variables of the guest.
    pub env: BTreeMap<String, String>,
    /// Settings of the plugin, by name.
    pub config: BTreeMap<String, Value>,
    /// Durable state.
    pub store: Option<StateGrant>,
    /// True if the plugin may read the opaque id of the caller.
    pub caller: bool,
}

/// Durable state of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateGrant {
    /// Quota of all callers together, in bytes.
    pub quota: u64,
    /// True if what the plugin takes for the shared space is each caller's own.
    pub is_per_caller: bool,
}

impl PluginGrants {
    /// Returns true if a grant needs the state folder: for a store in it, or for its secret, which caller ids are derived
    /// from.
    pub fn needs_state(&self) -> bool {
        self.store.is_some() || self.caller || self.needs_credentials()
    }

    /// Returns true if requests use credentials of callers.
    pub fn needs_credentials(&self) -> bool {
        self.http.secrets.iter().any(|secret| secret.source == SecretSource::Caller)
    }
}

/// Directory of the host that a plugin may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirGrant {
    /// Absolute path on the host.
    pub path: PathBuf,
    /// True if not the directory itself is granted, but those below it that the client names as its roots.
    pub roots: bool,
    /// Path in the guest, for example `/notes`; that of the roots' parent, if they are granted. Empty for `/`.
    pub at: String,
    /// True if the plugin may write to it. `read` actions cannot in any case.
    pub writable: bool,
}

impl DirGrant {
    /// Names what is granted.
    pub fn described(&self) -> String {
        let path = self.path.display();
        if self.roots {
            format!("the directories below {path} that the client names as its roots")
        } else {
            path.to_string()
        }
    }
}
