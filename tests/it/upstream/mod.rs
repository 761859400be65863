//! Other MCP servers, served as facades by the real host.

mod arxiv;
mod changes;
mod credentials;
mod fake;
mod hostile;
mod killed;
mod official;
mod policies;
mod questions;
mod servers;
mod slow;
mod tokens;
