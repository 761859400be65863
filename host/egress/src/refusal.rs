//! Why the policy refuses a request, in words for a model: no secrets, no addresses that were looked up.

use crate::{address::Class, host::Wrong};

/// What is not granted, and what would grant it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Neither http nor https, or no absolute URL.
    #[error("requests go to absolute http and https URLs only")]
    Scheme,
    /// A URL whose host another reader could take for another one.
    #[error("the URL's host {0}")]
    Url(Wrong),
    /// No rule for this scheme, host and port.
    #[error("{to} is not granted{}; the plugin's policy would grant it with `http = [\"{to}\"]`", granted(.near))]
    Destination {
        /// Scheme, host and port.
        to: String,
        /// The same host as it is granted.
        near: Option<String>,
    },
    /// A rule grants the host, but not this method.
    #[error(
        "{method} to {to} is not granted; the plugin's policy would grant it in the `methods` of that `http` entry"
    )]
    Method {
        /// As the request has it.
        method: String,
        /// The rule's destination.
        to: String,
    },
    /// A `read` action sends only what reads.
    #[error(
        "an action that only reads may send GET and HEAD, not {method}, to {to}; where a {method} there only reads, \
         the plugin's policy says so in the `reads` of that `http` entry"
    )]
    ReadOnly {
        /// As the request has it.
        method: String,
        /// The rule's destination.
        to: String,
    },
    /// TRACE, CONNECT.
    #[error("{0} is never sent")]
    Forbidden(String),
    /// A granted name that leads only to addresses that are not public, or are this machine's own. The text is the same
    /// for all of these: a plugin could otherwise map an internal network by its names. [`Refusal::class`] is for the log.
    #[error(
        "the name `{name}` leads to an address that is not public, or is this machine's own; such an address must be \
         granted itself, by its number, beside the name: `http = [\"{scheme}://ADDRESS:{port}\"]`"
    )]
    Leads {
        /// The host.
        name: String,
        /// Of the first address.
        class: Class,
        /// The request's.
        scheme: crate::Scheme,
        /// The request's.
        port: u16,
    },
    /// A header that the guest may not set.
    #[error("the header `{name}` {why}")]
    Header {
        /// Lower case.
        name: String,
        /// Reads after the name.
        why: &'static str,
    },
    /// A parameter of the URL's query that the guest may not set.
    #[error("the query parameter `{name}` {why}")]
    Query {
        /// As it is known.
        name: &'static str,
        /// Reads after the name.
        why: &'static str,
    },
    /// A redirect of the host's to somewhere that is not allowed.
    #[error("the answer redirects, and {0}")]
    Redirect(Box<Refusal>),
    /// From https to http.
    #[error("a request over https is not continued over http")]
    Downgrade,
    /// `send` with another request than the one admitted.
    #[error("the request is not the one that was admitted")]
    Changed,
}

impl Refusal {
    /// What lies behind the address that a name leads to: for the operator, and for nobody else.
    pub fn class(&self) -> Option<Class> {
        match self {
            Self::Leads { class, .. } => Some(*class),
            Self::Redirect(refusal) => refusal.class(),
            _ => None,
        }
    }
}

fn granted(near: &Option<String>) -> String {
    near.as_ref().map(|near| format!(" ({near} is)")).unwrap_or_default()
}
