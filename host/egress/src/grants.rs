//! Grants of a policy: which requests a plugin may send, and with which secrets.

use crate::{rule::Rule, secret::Secret};

/// Requests that a policy grants. Empty: none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// A request must match one of these.
    pub rules: Vec<Rule>,
    /// Secrets that the host adds to requests.
    pub secrets: Vec<Secret>,
}
