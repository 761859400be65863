//! Refusals of a request by the policy. Texts are for the model: no secrets, no resolved addresses.

use crate::{address::AddressClass, host::HostError};

/// Refusal of a request, with what would grant it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestRefusal {
    /// Neither http nor https, or no absolute URL.
    #[error("requests go to absolute http and https URLs only")]
    Scheme,
    /// A URL whose host another parser could read as another one.
    #[error("the URL's host {0}")]
    Url(HostError),
    /// No rule for this scheme, host and port.
    #[error("{to} is not granted{}; the plugin's policy would grant it with `http = [\"{to}\"]`", granted(.near))]
    Destination {
        /// Scheme, host and port.
        to: String,
        /// A grant for the same host.
        near: Option<String>,
    },
    /// A rule grants the host, but not this method.
    #[error(
        "{method} to {to} is not granted; the plugin's policy would grant it in the `methods` of that `http` entry"
    )]
    Method {
        /// Method of the request.
        method: String,
        /// Destination of the rule.
        to: String,
    },
    /// A `read` action sends only methods that read.
    #[error(
        "an action that only reads may send GET and HEAD, not {method}, to {to}; where a {method} there only reads, \
         the plugin's policy says so in the `reads` of that `http` entry"
    )]
    ReadOnly {
        /// Method of the request.
        method: String,
        /// Destination of the rule.
        to: String,
    },
    /// TRACE, CONNECT.
    #[error("{0} is never sent")]
    Forbidden(String),
    /// A granted name resolves only to addresses that are not public, or are this machine's own. The text is the same for all
    /// of them: a plugin could otherwise map an internal network by its names. [`RequestRefusal::class`] is for the log.
    #[error(
        "the name `{name}` resolves to an address that is not public, or is this machine's own; such an address must be \
         granted by number, in addition to the name: `http = [\"{scheme}://ADDRESS:{port}\"]`"
    )]
    Leads {
        /// Host of the request.
        name: String,
        /// Class of the first address.
        class: AddressClass,
        /// Scheme of the request.
        scheme: crate::UrlScheme,
        /// Port of the request.
        port: u16,
    },
    /// A header that the guest may not set.
    #[error("the header `{name}` {why}")]
    Header {
        /// Name of the header, in lower case.
        name: String,
        /// Reason, to be read after the name.
        why: &'static str,
    },
    /// A parameter of the URL's query that the guest may not set.
    #[error("the query parameter `{name}` {why}")]
    Query {
        /// Name of the parameter.
        name: &'static str,
        /// Reason, to be read after the name.
        why: &'static str,
    },
    /// A redirect to a target that is refused.
    #[error("the answer redirects, and {0}")]
    Redirect(Box<RequestRefusal>),
    /// A redirect from https to http.
    #[error("a request over https is not continued over http")]
    Downgrade,
    /// `send` with another request than the one admitted.
    #[error("the request is not the one that was admitted")]
    Changed,
    /// The requests of the call are answered from a recording, which lacks this one.
    #[error("the request is not recorded")]
    Unrecorded,
}

impl RequestRefusal {
    /// Returns the class of the address that a name resolves to, for the operator only.
    pub fn class(&self) -> Option<AddressClass> {
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
