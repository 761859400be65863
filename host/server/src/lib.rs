//! The MCP server in front of a gate: the protocol, its transports, and authentication.
//!
//! | module | contents | may import |
//! |---|---|---|
//! | [`mcp`] | the gate as an MCP server | `apps`, `fleet`, `seal` |
//! | `apps` | pages that show results to a person | |
//! | `jsonrpc` | checks of a message before MCP sees it | |
//! | [`stdio`] | one client on stdin and stdout | `jsonrpc`, `mcp` |
//! | [`auth`] | authentication over HTTP | `endpoint` |
//! | [`http`] | many clients over streamable HTTP | all but `stdio` |
//! | [`card`] | server cards, as documents | `endpoint` |
//! | `endpoint` | paths over HTTP | |
//! | `listener` | listening sockets | |
//! | `fleet` | hosts that share a database, as one server | |
//! | `seal` | values that pass through clients, sealed | |
//!
//! This is the only crate that names rmcp's server side.

mod apps;
pub mod auth;
pub mod card;
mod endpoint;
mod fleet;
pub mod http;
mod jsonrpc;
mod listener;
pub mod mcp;
mod seal;
pub mod stdio;

pub use endpoint::{CALLBACK_PATH, CARD_SUFFIX, PATH as ENDPOINT_PATH};
pub use fleet::{FleetMember, VersionReport};
pub use listener::listen;
