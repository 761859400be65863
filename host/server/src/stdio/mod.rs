//! MCP over stdio: one client, the process that started the server.
//!
//! | file | concept |
//! |---|---|
//! | `server.rs` | takes over stdin and stdout, and serves until the client or a signal ends it |
//! | `lines.rs` | messages as lines, within bounds |
//! | `opening.rs` | messages before the client has chosen a lifecycle |

mod lines;
mod opening;
mod server;

pub use self::server::{serve, take};

#[cfg(test)]
mod tests;
