//! The gate as an MCP server: one handler for the stateful lifecycle (up to 2025-11-25) and the stateless one
//! (2026-07-28). Nothing here depends on a session.
//!
//! | file | concept |
//! |---|---|
//! | `handler.rs` | what rmcp calls |
//! | `list.rs` | the published list and the instructions, built once per catalog generation |
//! | `result.rs` | an envelope as an MCP result |
//! | `news.rs` | `tools/list_changed` to clients of both lifecycles |

mod handler;
mod list;
mod news;
mod result;

pub use handler::Handler;
pub use list::{instructions, tools};
