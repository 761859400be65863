//! What the bench knows about one server: how to start it and what it can do. A server that is not Loggia is one more
//! entry in a JSON file; no code.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

/// One server.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its column in the tables.
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
    /// The composite tool whose actions the bench's tools are; where there is none, each is a tool of its own.
    pub facade: Option<String>,
    /// `[from, to]` copies that must hold before every start (done only where they differ).
    #[serde(default)]
    pub files: Vec<(PathBuf, PathBuf)>,
    /// Removed before a cold start.
    #[serde(default)]
    pub caches: Vec<PathBuf>,
    /// Files or folders whose page cache is given up before a cold start.
    #[serde(default)]
    pub evict: Vec<PathBuf>,
    /// How a changed plugin reaches it while it runs.
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
    /// Where it listens then, `host:port`.
    pub addr: String,
    /// Where MCP is served.
    pub path: String,
    /// The 2024-11-05 transport: GET an event stream, POST to the endpoint it names.
    #[serde(default)]
    pub legacy_sse: bool,
}

/// How a changed plugin file reaches the running server: `file` is overwritten, then `calls` (if any) ask the server to
/// take it. A server that watches its files needs no calls.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reload {
    /// Start command for this test alone, where loading must be switched on.
    pub stdio: Option<Vec<String>>,
    /// What the server loads.
    pub file: PathBuf,
    /// Copies of the plugin, each with what its `version` tool answers. The first is the one that `files` puts there.
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
    /// Its arguments.
    pub arguments: serde_json::Value,
}

/// Reads the file that lists servers.
pub fn load(path: &str) -> Result<Vec<Server>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {path}"))?;
    serde_json::from_str(&text).with_context(|| format!("parsing {path}"))
}
