//! Checks of a JSON-RPC message before MCP sees it. Both transports share them.
//!
//! | file | concept |
//! |---|---|
//! | `ids.rs` | ids of requests, even invalid ones |
//! | `duplicates.rs` | duplicate names in JSON objects, which both transports refuse |
//! | `refusals.rs` | texts of refusals |

pub mod duplicates;
pub mod ids;
pub mod refusals;
