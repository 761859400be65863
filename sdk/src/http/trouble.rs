//! Failures without a response.

use super::Url;
use crate::{Failure, failure::code};

/// Cause of a failed request.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
pub(crate) enum Trouble<'a> {
    /// The host denies it.
    Denied,
    /// The name resolves to an address that the host does not let plugins reach.
    Private,
    /// A clock ran out.
    TimedOut,
    /// The server is unknown or unreachable, for this reason.
    Unreachable(&'a str),
    /// A request or response above the host's limit.
    TooLarge(&'a str),
    /// The request is invalid, for this reason.
    Invalid(&'a str),
}

impl Trouble<'_> {
    /// The failure of a request of that method to that URL.
    pub fn failure(self, method: &str, url: &Url) -> Failure {
        let server = &url.authority;
        match self {
            Self::Denied => {
                let origin = url.origin();
                let grant = format!("The operator grants it in the plugin's policy file: `http = [\"{origin}\"]`.");
                let reading = "While a `read` action runs, only GET and HEAD pass.";
                let hint = if matches!(method, "GET" | "HEAD") { grant } else { [&grant, " ", reading].concat() };
                Failure::denied(format!("access denied: {method} to {server} is refused by the policy")).hint(hint)
            }
            Self::Private => Failure::denied(format!("access denied: {server} resolves to an address that is not public"))
                .hint("The operator can grant such an address only by naming it: `http = [\"http://127.0.0.1:8080\"]`."),
            Self::TimedOut => Failure::timed_out(format!("timed out: {server} took too long")),
            Self::Unreachable(why) => Failure::unavailable(format!("{server} cannot be reached: {why}")),
            Self::TooLarge(what) => Failure::new(code::UNAVAILABLE, format!("too large: the {what} ({server})")),
            Self::Invalid(why) => Failure::invalid_params(format!("not a request that can be sent: {why}")),
        }
    }
}
