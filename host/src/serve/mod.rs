//! A host that runs: its parts put together, its transports, and its end.
//!
//! | file | concept |
//! |---|---|
//! | `host.rs` | engine, cache, catalog, gate and reloader, put together |
//! | `stdio.rs`, `lines.rs` | one client on stdin and stdout |
//! | `opening.rs` | what such a client may send before it has chosen a lifecycle |
//! | `ids.rs` | ids of requests, also those that none can have |
//! | `duplicates.rs` | names that are given twice in one object, which neither transport takes |
//! | `endpoint.rs` | the path of MCP over HTTP |
//! | `http/` | many clients over streamable HTTP |
//! | `auth/` | who calls over HTTP |
//! | `admin.rs` | health, readiness and figures, for who runs it |
//! | `signals.rs` | how the host is told to end |
//! | `memory.rs` | what the allocator is told |
//! | `runtimes.rs` | the threads on which calls run |
//! | `vitals.rs` | what the host holds, told on SIGUSR1 |

pub mod admin;
pub mod auth;
mod duplicates;
mod endpoint;
mod host;
pub mod http;
mod ids;
mod lines;
pub mod memory;
mod opening;
mod runtimes;
pub mod signals;
pub mod stdio;
pub mod vitals;

pub use endpoint::PATH as ENDPOINT_PATH;
pub use host::{HostOptions, PluginHost, StartError};
