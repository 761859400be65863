//! Texts that refuse a message before MCP sees it. Both transports use them.

use loggia_facade::json::VALUES;

/// Error text for malformed messages.
pub const INVALID: &str = "Invalid request";

/// Error text for batches.
pub const BATCH: &str = "Invalid request: send one message at a time; batches are not supported";

/// Error text for a handshake without what it needs.
pub const INCOMPLETE_INITIALIZE: &str =
    "Invalid params: `initialize` needs `protocolVersion`, `capabilities` and `clientInfo`";

/// Error text for messages with too many values.
pub fn too_many_values() -> String {
    format!(
        "Invalid request: a message may hold {VALUES} values at most; send less at once, in several calls"
    )
}

/// Error text for duplicate names.
pub fn duplicate_name(name: &str) -> String {
    format!("Invalid request: {name:?} is given twice in one object; give it once")
}
