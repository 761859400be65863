//! The running host: assembly, transports, authentication, admin listener and shutdown.
//!
//! | file | concept |
//! |---|---|
//! | `host.rs` | assembles engine, cache, catalog, gate and reloader |
//! | `stdio.rs`, `lines.rs` | one client on stdin and stdout |
//! | `opening.rs` | messages of such a client before it has chosen a lifecycle |
//! | `ids.rs` | ids of requests, even invalid ones |
//! | `duplicates.rs` | detection of duplicate names in JSON objects, which both transports refuse |
//! | `endpoint.rs` | path of MCP over HTTP |
//! | `listener.rs` | the listening sockets |
//! | `http/` | many clients over streamable HTTP |
//! | `auth/` | authentication over HTTP |
//! | `admin/` | health, readiness and metrics |
//! | `signals.rs` | shutdown signals |
//! | `memory.rs` | settings of the allocator |
//! | `runtimes.rs` | threads of calls |
//! | `vitals.rs` | resource usage, logged on SIGUSR1 |

pub mod admin;
pub mod auth;
mod duplicates;
mod endpoint;
mod host;
pub mod http;
mod ids;
mod lines;
mod listener;
pub mod memory;
mod opening;
mod runtimes;
pub mod signals;
pub mod stdio;
pub mod vitals;

pub use endpoint::PATH as ENDPOINT_PATH;
pub use host::{HostOptions, PluginHost, StartError};
pub use listener::listen;
