//! `files`, over MCP: round trips above all, which must survive a kill.
