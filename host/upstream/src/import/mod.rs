//! Configuration files of MCP clients, as settings of upstreams: pure functions.
//!
//! | file | concept |
//! |---|---|
//! | `commented_json` | JSON with comments, as VS Code writes it |
//! | `references` | `${input:x}`, `${env:X}` and others as `${X}` |
//! | `client_file` | servers of Claude Code, Claude Desktop, Cursor and VS Code |
//! | `render` | settings as TOML |

mod client_file;
mod commented_json;
mod references;
mod render;
#[cfg(test)]
mod tests;

pub use client_file::{ImportedUpstream, ImportedUpstreams, import_clients};
pub use render::render_toml;
