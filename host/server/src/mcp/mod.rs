//! The gate as an MCP server: one handler for the stateful lifecycle (up to 2025-11-25) and the stateless one
//! (2026-07-28). Nothing here depends on a session.
//!
//! | file | concept |
//! |---|---|
//! | `handler.rs` | the server's parts, and what a request has of them |
//! | `protocol.rs` | the implementation of rmcp's `ServerHandler` |
//! | `call.rs` | one `tools/call`, followed to a result, a run, a task or a question |
//! | `call_reference.rs` | the call that a request is about |
//! | `view.rs` | how a client is served: its list, the form of its results |
//! | `list.rs` | tool lists, cached per catalog generation, client and rights |
//! | `search_hint.rs` | what Claude Code reads of a tool before it loads it |
//! | `instructions.rs` | the server's instructions, within the length that clients keep |
//! | `pages.rs` | pagination of lists |
//! | `prompts.rs` | workflows as prompts |
//! | `prompt_form.rs` | asks for the arguments that a prompt lacks |
//! | `tool_pages.rs` | pages of tools, for clients of MCP Apps |
//! | `approvals.rs` | approvals of a run, for the page that shows them |
//! | `resources.rs` | results of `read` actions as resources |
//! | `skills.rs` | instructions that come with plugins |
//! | `subscriptions.rs` | who hears of which resource |
//! | `result.rs` | an envelope as an MCP result |
//! | `content.rs` | media, resources and links, as far as a client passes them to its model |
//! | `wire.rs` | messages as text; text and structured content of a result from the same bytes |
//! | `direct.rs` | calls that end at once, without rmcp's service |
//! | `panics.rs` | a panic of the host ends one request |
//! | `elicitation.rs` | elicitation, in both lifecycles |
//! | `operation.rs` | timing of requests, their spans, and their ids in the log |
//! | `request_span.rs` | the span of a request, which continues the trace that it names |
//! | `progress.rs` | progress notifications of a request |
//! | `roots.rs` | roots of a stdio client |
//! | `forwarded.rs` | requests about calls of other hosts |
//! | `tasks.rs` | runs as tasks of the tasks extension |
//! | `list_changes.rs`, `listen.rs` | list changes, to clients of both lifecycles |

mod approvals;
mod call;
mod call_reference;
mod content;
mod direct;
mod elicitation;
mod forwarded;
mod handler;
mod instructions;
mod list;
mod list_changes;
mod listen;
mod operation;
mod pages;
mod panics;
mod progress;
mod prompt_form;
mod prompts;
mod protocol;
mod request_span;
mod resources;
mod result;
mod roots;
mod search_hint;
mod skills;
mod subscriptions;
mod tasks;
mod tool_pages;
mod view;
mod wire;

pub use crate::mcp::{
    direct::{DirectClient, DirectOutcome},
    handler::McpHandler,
    instructions::render_instructions,
    list::{published_tools, to_tool},
    roots::SessionRoots,
    subscriptions::{SessionHold, StateObservation, StateObserver},
    view::{ClientView, ServedEndpoint},
    wire::{message_text, unshared_message},
};
pub use crate::seal::SealSecret;

#[cfg(test)]
mod tests;
