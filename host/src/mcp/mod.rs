//! The gate as an MCP server: one handler for the stateful lifecycle (up to 2025-11-25) and the stateless one
//! (2026-07-28). Nothing here depends on a session.
//!
//! | file | concept |
//! |---|---|
//! | `handler.rs` | what rmcp calls |
//! | `call.rs` | one `tools/call`: followed to its result, a run, a task or a question |
//! | `list.rs` | the published list, built once per catalog generation and rights |
//! | `instructions.rs` | what clients tell their models of the facades, within the bytes that they keep |
//! | `pages.rs` | lists that are too long for one answer |
//! | `result.rs` | an envelope as an MCP result |
//! | `elicitation.rs` | questions to the person, in the ways of both lifecycles |
//! | `operation.rs` | how long requests take, and by which names the log knows them |
//! | `tasks.rs` | runs as MCP's tasks |
//! | `list_changes.rs` | `tools/list_changed` to clients of both lifecycles |

mod call;
mod elicitation;
mod handler;
mod instructions;
mod list;
mod list_changes;
mod operation;
mod pages;
mod result;
mod tasks;

pub use handler::McpHandler;
pub use instructions::render_instructions;
pub use list::{published_tools, to_tool};

#[cfg(test)]
mod tests;
