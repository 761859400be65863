//! Checks of a JSON-RPC message before MCP sees it. Both transports share them.
//!
//! | file | concept |
//! |---|---|
//! | `ids.rs` | ids of requests, even invalid ones |
//! | `tree.rs` | the tree of a message, without duplicate names, which both transports refuse |
//! | `tool_call.rs` | `tools/call` from its tree |
//! | `refusals.rs` | texts of refusals |

pub mod ids;
pub mod refusals;
pub mod tool_call;
pub mod tree;
