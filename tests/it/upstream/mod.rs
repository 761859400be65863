//! Other MCP servers, served as facades by the real host.

mod official;
mod servers;
mod tokens;
