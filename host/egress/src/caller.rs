//! Callers and their own credentials, as far as requests need to know them.

use std::fmt;

use crate::IoFuture;

/// Opaque key of a caller: distinct for each caller, and meaningless outside of the host.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallerKey(pub [u8; 32]);

impl fmt::Debug for CallerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallerKey")
    }
}

/// Reads credentials that belong to single callers.
pub trait CallerCredentials: Send + Sync + 'static {
    /// Reads the current credential of a caller; `None` if the caller has none. Called for each request that needs it.
    fn credential(&self, caller: CallerKey) -> IoFuture<Option<String>>;
}

/// Reason for which a request has no credential of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MissingCredential {
    /// The caller is unauthenticated, and cannot own one.
    #[error("which unauthenticated callers cannot have")]
    Anonymous,
    /// None is stored for the caller.
    #[error("and there is none for this caller")]
    None,
}

impl MissingCredential {
    /// Returns the way to get one, for the credentials of a facade, as a sentence.
    pub fn remedy(self, facade: &str) -> String {
        match self {
            Self::Anonymous => {
                "Call with a token, for whose owner the operator can store a credential.".to_owned()
            }
            Self::None => format!(
                "The operator stores it by `loggia credential set {facade} --caller NAME` (or `login` instead of \
                 `set`), where NAME is the name of the caller's token; without --caller for the local user."
            ),
        }
    }
}
