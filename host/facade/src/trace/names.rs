//! All names of spans and of their attributes. Those that OpenTelemetry defines are its own (semantic conventions for MCP, HTTP and
//! errors); the others begin with `loggia.`. The conventions for MCP are not stable yet: a change belongs into this file, and into
//! `docs/operators/telemetry.md`.

/// Method of an MCP request.
pub const MCP_METHOD: &str = "mcp.method.name";
/// Revision of MCP that the request is of.
pub const MCP_VERSION: &str = "mcp.protocol.version";
/// Name of the tool, if it is published.
pub const TOOL: &str = "gen_ai.tool.name";
/// `execute_tool`, for calls of tools.
pub const OPERATION: &str = "gen_ai.operation.name";
/// Value of [`OPERATION`].
pub const EXECUTE_TOOL: &str = "execute_tool";
/// Id of a request, as its client chose it.
pub const REQUEST_ID: &str = "jsonrpc.request.id";
/// JSON-RPC's code of a response that is an error.
pub const STATUS_CODE: &str = "rpc.response.status_code";
/// `pipe` for stdio, `tcp` for HTTP.
pub const TRANSPORT: &str = "network.transport";
/// Value of [`TRANSPORT`].
pub const PIPE: &str = "pipe";
/// Value of [`TRANSPORT`].
pub const TCP: &str = "tcp";
/// Why a span failed: a code of a failure, of JSON-RPC or of HTTP.
pub const ERROR_TYPE: &str = "error.type";
/// [`ERROR_TYPE`] of what was dropped before its end.
pub const CANCELLED: &str = "cancelled";
/// [`ERROR_TYPE`] of a call whose result is an error of the tool.
pub const TOOL_ERROR: &str = "tool_error";
/// [`ERROR_TYPE`] of a failure with a code that a plugin made up, and method of a request that is none of HTTP's.
pub const OTHER: &str = "_OTHER";

/// Method of an HTTP request.
pub const HTTP_METHOD: &str = "http.request.method";
/// Status of an HTTP response.
pub const HTTP_STATUS: &str = "http.response.status_code";
/// Scheme of a URL.
pub const SCHEME: &str = "url.scheme";
/// Host that a request is sent to.
pub const SERVER: &str = "server.address";
/// Port that a request is sent to.
pub const PORT: &str = "server.port";

/// Name of a facade.
pub const FACADE: &str = "loggia.facade";
/// Name of an action, as its facade declares it.
pub const ACTION: &str = "loggia.action";
/// Outcome of a call: `ok`, or the code of its failure. Outcome of a guard's look: `allowed`, `replaced`, `refused` or `failed`.
pub const OUTCOME: &str = "loggia.outcome";
/// Version of a facade: the digest of a plugin's file, or the kind of its source.
pub const PLUGIN: &str = "loggia.plugin.digest";
/// CPU time of a plugin, in seconds.
pub const CPU: &str = "loggia.cpu.time";
/// CPU time that the call may take, in seconds.
pub const CPU_LIMIT: &str = "loggia.cpu.limit";
/// Largest size of a plugin's memories, in bytes.
pub const MEMORY: &str = "loggia.memory.peak";
/// Size that its memories may have, in bytes.
pub const MEMORY_LIMIT: &str = "loggia.memory.limit";
/// Operation on a plugin's state: `get`, `scan` or `commit`.
pub const STATE: &str = "loggia.state.operation";
/// Name of a workflow's step.
pub const STEP: &str = "loggia.step.name";
/// Number of an attempt, from 1.
pub const ATTEMPT: &str = "loggia.step.attempt";
/// Index of the item of a step that runs for several, from 0.
pub const ITEM: &str = "loggia.step.item";
/// True if a step undoes an earlier one.
pub const UNDOES: &str = "loggia.step.undoes";

/// Name of a guard.
pub const GUARD: &str = "loggia.guard";
/// When a guard looks: `before` a call, or `after` it.
pub const MOMENT: &str = "loggia.guard.moment";

/// Span of routing and validating a request.
pub const PLAN_SPAN: &str = "plan";
/// Span of waiting for a permit.
pub const PERMIT_SPAN: &str = "permit";

/// Span of an MCP request: `tools/call notes`.
pub fn request_span(method: &str, tool: Option<&str>) -> String {
    tool.map_or_else(|| method.to_owned(), |tool| format!("{method} {tool}"))
}

/// Span of one call of a facade: `call notes.add`.
pub fn call_span(facade: &str, action: &str) -> String {
    format!("call {facade}.{action}")
}

/// Span of a plugin in its sandbox: `sandbox notes`.
pub fn sandbox_span(facade: &str) -> String {
    format!("sandbox {facade}")
}

/// Span of an operation on a plugin's state: `state commit`.
pub fn state_span(operation: &str) -> String {
    format!("state {operation}")
}

/// Span of a guard's look: `guard mask`.
pub fn guard_span(guard: &str) -> String {
    format!("guard {guard}")
}

/// Span of a workflow's step: `step fetch`.
pub fn step_span(step: &str) -> String {
    format!("step {step}")
}

/// Method of an HTTP request as an attribute and as the name of its span: plugins may make up others.
pub fn http_method(method: &str) -> &str {
    const METHODS: [&str; 10] =
        ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY"];
    if METHODS.contains(&method) { method } else { OTHER }
}
