//! Grants of a policy: which requests a plugin may send, and with which secrets.

use crate::{rule::HttpRule, secret::HeaderSecret};

/// Requests that a policy grants. Empty: none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EgressGrants {
    /// A request must match one of these.
    pub rules: Vec<HttpRule>,
    /// Secrets that the host adds to requests.
    pub secrets: Vec<HeaderSecret>,
}
