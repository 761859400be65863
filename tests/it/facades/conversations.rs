//! `conversations`, over MCP.
