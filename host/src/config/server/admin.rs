//! `[admin]`.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::Deserialize;

/// The listener for who runs the server: `/healthz`, `/readyz` and `/metrics`, without authentication and without
/// secrets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Admin {
    /// Where it listens. Port 0 is any that is free.
    #[schemars(example = "127.0.0.1:9090")]
    pub listen: SocketAddr,
    /// Names by which requests may call it, beside addresses and localhost: that of its service, say.
    #[serde(default)]
    pub hosts: Vec<String>,
}
