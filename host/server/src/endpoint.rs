//! Path of the MCP endpoint.

/// Path at which MCP is served over HTTP.
pub const PATH: &str = "/mcp";
