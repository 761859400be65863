//! MCP over stdio: one client, the process that started the server.
//!
//! | file | concept |
//! |---|---|
//! | `streams/` | takes over stdin and stdout |
//! | `server.rs` | serves until the client or a signal ends it |
//! | `lines.rs` | messages as lines, within bounds |
//! | `direct.rs` | calls that end at once, without rmcp's service |
//! | `opening.rs` | messages before the client has chosen a lifecycle |

mod direct;
mod lines;
mod opening;
mod server;
mod streams;

pub use self::{server::serve, streams::take};

#[cfg(test)]
mod tests;
