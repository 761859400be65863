//! Where the MCP endpoint stands.

/// Where the protocol is spoken.
pub const PATH: &str = "/mcp";
