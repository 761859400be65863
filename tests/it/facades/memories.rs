//! `memories`, over MCP.
