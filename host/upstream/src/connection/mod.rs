//! Connections to upstreams: processes, pipes, requests over HTTP, and the protocol on top of them.
//!
//! rmcp speaks the protocol; this folder supplies what is below it (bounded pipes, process groups) and around it (restarts,
//! calls in flight, questions).
//!
//! | file | concept |
//! |---|---|
//! | `close_reason` | why a connection ended: the first reason wins |
//! | `restart_backoff` | how long to wait before the next start |
//! | `outage` | why an upstream is unavailable, and until when |
//! | `bounded_lines` | lines of a stream, within a bound of memory |
//! | `message` | a line as a message of JSON-RPC |
//! | `http` | rmcp's transport over HTTP, with bounded bodies |
//! | `pipe` | rmcp's transport over the standard streams of a child |
//! | `stderr_log` | a child's stderr, in the host's log |
//! | `child` | a child process, with its group and its environment |
//! | `questions` | forms and links of an upstream, as questions to a person |
//! | `call_registry` | calls in flight, by their request and their progress token |
//! | `client` | what the upstream may ask of its client |
//! | `open` | an open connection: calls and lists of tools |
//! | `tasks` | calls that the server runs as tasks |
//! | `subscription` | changes of the tool list, in the lifecycle of 2026-07-28 |
//! | `life` | one connection, from its start to its end |
//! | `link` | the connection of an upstream, started again when it is needed |
//! | `caller_links` | connections of single callers, with their own credentials |

mod bounded_lines;
mod call_registry;
mod caller_links;
mod child;
mod client;
mod close_reason;
mod http;
mod life;
mod link;
mod message;
mod open;
mod outage;
mod pipe;
mod questions;
mod restart_backoff;
mod stderr_log;
mod subscription;
mod tasks;

pub use caller_links::CallerCredential;
pub(crate) use caller_links::CallerLinks;
pub use child::INHERITED_VARIABLES;
pub use http::EndpointAnswer;
pub(crate) use http::{REFUSED, ask_endpoint};
pub(crate) use link::UpstreamLink;
pub(crate) use open::{CallEnd, OpenConnection};
pub(crate) use outage::UpstreamOutage;
pub(crate) use questions::{read_question, read_required_links, write_answer};
