//! `knowledge`, over MCP.
