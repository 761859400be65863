//! Requests that a plugin may send: which, where to, how many, and with which secrets.
//!
//! A [`Client`] holds what one plugin is granted and its connections; a [`CallEgress`] counts for one call. A request is
//! *admitted* at once by pure rules ([`policy`]), then its host is resolved once, every address is checked
//! ([`Class`]), and only a checked address is connected to. Secrets are added last and blotted out of what comes back.
//!
//! Nothing here knows of WebAssembly, and nothing reads proxies from the environment: a proxy would resolve names itself.

mod address;
mod body;
mod call;
mod client;
mod connect;
mod destination;
mod download;
mod error;
mod exchange;
mod headers;
mod host;
mod known;
pub mod policy;
mod pool;
mod redact;
mod redirect;
mod refusal;
mod resolve;
mod rule;
mod secret;
mod tls;

pub use address::Class;
pub use body::{BodyIn, BodyOut};
pub use call::{CallEgress, Ticket};
pub use client::{Client, Setup};
pub use destination::Target;
pub use error::{Part, Phase, SendError, Timeouts, TlsFault};
pub use host::{Host, Wrong};
pub use policy::Mode;
pub use refusal::Refusal;
pub use resolve::{Dial, Interfaces, Pending, Resolve};
pub use rule::{Destination, HostPattern, Rule, Scheme};
pub use secret::{Secret, Source};

use std::time::Duration;

/// What a policy grants a plugin to send. Empty: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// A request must match one of these.
    pub rules: Vec<Rule>,
    /// What the host adds to requests.
    pub secrets: Vec<Secret>,
}

/// How much one call may send and receive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Requests of a call.
    pub requests: usize,
    /// Of these at once.
    pub at_once: usize,
    /// Bytes of a request's body.
    pub request: usize,
    /// Bytes of a response's body.
    pub response: usize,
    /// From the request's start to the response's end.
    pub time: Duration,
    /// Redirects that the host follows itself, each checked like a request of its own. With none, the plugin is given
    /// the redirecting response.
    pub redirects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests: 32,
            at_once: 6,
            request: 1 << 20,
            response: 4 << 20,
            time: Duration::from_secs(15),
            redirects: 0,
        }
    }
}
