//! Paths of the HTTP server.

/// Path at which MCP is served over HTTP.
pub const PATH: &str = "/mcp";
/// Path under which programs of other services start workflows.
pub const HOOKS_PATH: &str = "/hooks";
/// Path to which an authorization server sends browsers back.
pub const CALLBACK_PATH: &str = "/oauth/callback";
/// What follows the URL of an endpoint in that of its server card.
pub const CARD_SUFFIX: &str = "/server-card";
/// Path of the list of server cards.
pub const CATALOG_PATH: &str = "/.well-known/ai-catalog.json";
