//! Description of a server: how to start it, and its capabilities. Adding a server needs an entry in a JSON file and no
//! code.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

/// One server.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Column in the tables.
    pub name: String,
    /// Starts it on stdio.
    pub stdio: Option<Vec<String>>,
    /// Starts it on HTTP.
    pub http: Option<Http>,
    /// Added to the environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Prefix that the server puts before each tool's own name.
    #[serde(default)]
    pub prefix: String,
    /// Composite tool that has the bench's tools as actions; without it each is a separate tool.
    pub facade: Option<String>,
    /// `[from, to]` files to copy before every start (only if they differ).
    #[serde(default)]
    pub files: Vec<(PathBuf, PathBuf)>,
    /// Removed before a cold start.
    #[serde(default)]
    pub caches: Vec<PathBuf>,
    /// Files or folders to drop from the page cache before a cold start.
    #[serde(default)]
    pub evict: Vec<PathBuf>,
    /// Way to replace a plugin at run time.
    pub reload: Option<Reload>,
    /// Not to be given the looping and the hoarding tool.
    #[serde(default)]
    pub fragile: bool,
}

/// A server on HTTP.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// Starts it.
    pub cmd: Vec<String>,
    /// Listening address, `host:port`.
    pub addr: String,
    /// Path of the MCP endpoint.
    pub path: String,
    /// The 2024-11-05 transport: GET an event stream, POST to the endpoint it names.
    #[serde(default)]
    pub legacy_sse: bool,
    /// The client speaks 2026-07-28, which has no sessions.
    #[serde(default)]
    pub stateless: bool,
}

/// Way to replace a plugin of a running server: `file` is overwritten, then `calls`, if any, ask the server to reload.
/// A server that watches its files needs no calls.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reload {
    /// Start command for this test only, if reloading must be enabled.
    pub stdio: Option<Vec<String>>,
    /// File that the server loads.
    pub file: PathBuf,
    /// Copies of the plugin, each with the answer of its `version` tool. The first is the one that `files` installs.
    pub versions: Vec<(PathBuf, String)>,
    /// Calls that make the server look.
    #[serde(default)]
    pub calls: Vec<ReloadCall>,
}

/// One call that makes a server look at its files.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReloadCall {
    /// The tool.
    pub name: String,
    /// Arguments.
    pub arguments: serde_json::Value,
}

/// Reads the file that lists servers.
pub fn load(path: &str) -> Result<Vec<Server>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {path}"))?;
    serde_json::from_str(&text).with_context(|| format!("parsing {path}"))
}
