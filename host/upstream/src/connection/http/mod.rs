//! Streamable HTTP: rmcp's transport over an HTTP client of ours, which bounds what it reads.
//!
//! | file | concept |
//! |---|---|
//! | `tls` | certificate authorities of this machine |
//! | `http_error` | why a request brought no answer |
//! | `endpoint` | what an address answers, for diagnosis |
//! | `events` | server-sent events, within a bound |
//! | `http_client` | requests to one server |

mod endpoint;
mod events;
mod http_client;
mod http_error;
mod tls;

pub use endpoint::EndpointAnswer;
pub(crate) use endpoint::ask_endpoint;
pub(super) use http_client::HttpClient;
pub(crate) use http_error::REFUSED;
pub(super) use http_error::innermost;
