//! The runtimes of an upstream.

use tokio::runtime::Handle;

/// Runtimes that an upstream uses.
#[derive(Clone)]
pub struct UpstreamRuntimes {
    /// Runtime of clients' connections, for messages to and from children. Each takes microseconds there, and a change of
    /// threads would take longer.
    pub io: Handle,
    /// Runtime for all else: connections over HTTP, long messages, lists of tools.
    pub calls: Handle,
}

impl UpstreamRuntimes {
    /// Uses one runtime for everything.
    pub fn single(runtime: &Handle) -> Self {
        Self { io: runtime.clone(), calls: runtime.clone() }
    }
}
