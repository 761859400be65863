//! `search`, over MCP, with the facades that it asks.
