//! Settings of one upstream: plain data, from `loggia.toml` or from a client's configuration file.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use crate::pattern::NamePattern;

/// How to reach one upstream, and which of its tools to serve.
#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamSpec {
    /// The facade's name: `^[a-z][a-z0-9_-]{0,31}$`.
    pub name: String,
    /// Where the server is.
    pub transport: TransportSpec,
    /// Tools to serve, by their original names; all if there are none.
    pub include: Vec<NamePattern>,
    /// Tools to leave out, by their original names. Goes before `include`.
    pub exclude: Vec<NamePattern>,
    /// New names and descriptions, by original name.
    pub overrides: BTreeMap<String, ToolOverride>,
    /// What the facade is for, if the server's own text does not say it well.
    pub summary: Option<String>,
    /// Time and memory that the upstream may take.
    pub limits: UpstreamLimits,
}

impl UpstreamSpec {
    /// A spec that serves all tools of a server, under their own names and the default limits.
    pub fn new(name: impl Into<String>, transport: TransportSpec) -> Self {
        Self {
            name: name.into(),
            transport,
            include: Vec::new(),
            exclude: Vec::new(),
            overrides: BTreeMap::new(),
            summary: None,
            limits: UpstreamLimits::default(),
        }
    }

    /// Whether a tool of this original name is served.
    pub(crate) fn serves(&self, tool: &str) -> bool {
        let is_listed = |patterns: &[NamePattern]| patterns.iter().any(|pattern| pattern.matches(tool));
        (self.include.is_empty() || is_listed(&self.include)) && !is_listed(&self.exclude)
    }
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq)]
pub enum TransportSpec {
    /// A child process that speaks over its standard streams.
    Stdio(StdioSpec),
    /// A server that speaks streamable HTTP.
    Http(HttpSpec),
}

/// A child process. Its command is code, so it comes from the operator's own settings only.
#[derive(Clone, PartialEq, Default)]
pub struct StdioSpec {
    /// The program: a path, or a name that is looked up in the `PATH` of the child.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, added to the few variables that it inherits: [`INHERITED_VARIABLES`](crate::INHERITED_VARIABLES).
    pub env: BTreeMap<String, String>,
    /// Its working directory; the host's own if there is none.
    pub cwd: Option<PathBuf>,
}

impl fmt::Debug for StdioSpec {
    /// Shows the names of variables without their values, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioSpec")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.keys())
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// A server at an URL.
#[derive(Clone, PartialEq, Default)]
pub struct HttpSpec {
    /// Its endpoint, for example `https://mcp.example.com/mcp`.
    pub url: String,
    /// Headers of every request, for example `authorization`. They are the operator's; a caller's token is never added.
    pub headers: BTreeMap<String, String>,
    /// Header with each caller's own credential, for calls. Tools are listed without it.
    pub caller_header: Option<CallerHeader>,
}

/// A header with a caller's own credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerHeader {
    /// Name of the header.
    pub name: String,
    /// Format of its value; `{}` is replaced by the credential.
    pub format: String,
}

impl fmt::Debug for HttpSpec {
    /// Shows the names of headers without their values, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSpec")
            .field("url", &self.url)
            .field("headers", &self.headers.keys())
            .field("caller_header", &self.caller_header)
            .finish()
    }
}

/// A new name or description for one tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolOverride {
    /// The action's name. The original name stays an alias.
    pub name: Option<String>,
    /// The action's description.
    pub description: Option<String>,
}

/// Time and memory that an upstream may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamLimits {
    /// From the start of a connection to the end of its handshake and its first list of tools.
    pub connect: Duration,
    /// For one call; none if the gate's own limits suffice.
    pub call: Option<Duration>,
    /// Bytes of one message.
    pub message: usize,
    /// Bytes of one logged line of a child's stderr.
    pub stderr_line: usize,
}

impl Default for UpstreamLimits {
    fn default() -> Self {
        Self { connect: CONNECT, call: None, message: MESSAGE, stderr_line: STDERR_LINE }
    }
}

/// Time to connect. `npx` and `uvx` download a package at their first start, and rmcp waits 10 s before it falls back to the
/// handshake of older servers.
const CONNECT: Duration = Duration::from_secs(60);
/// Bytes of a message: rmcp's own limit for its servers.
const MESSAGE: usize = 16 * 1024 * 1024;
/// Bytes of a line of stderr: a line of a log, not a dump.
const STDERR_LINE: usize = 4096;
