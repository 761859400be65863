//! Logins of callers at the server that issues their credentials, as far as calls need to know them.

use futures_util::future::BoxFuture;
use loggia_facade::{Failure, ScopeKey};

use super::call_origin::Caller;

/// Logins of the callers of one facade.
pub trait CallerLogins: Send + Sync + 'static {
    /// Returns the login that a caller has to complete before a call; begins one if none is pending. `None` if the call may go
    /// on: the caller has a credential, or cannot get one by a login.
    fn require(
        &self,
        caller: &Caller,
        key: &ScopeKey,
    ) -> BoxFuture<'static, Result<Option<Box<dyn PendingLogin>>, Failure>>;
    /// Returns the login that a call would need, with its link if one can be given without side effects. Blocks for reading a
    /// file.
    fn preview(&self, caller: &Caller, key: &ScopeKey) -> Option<LoginPreview>;
    /// Completes the pending login of a caller by the code that its last page showed.
    fn redeem(
        &self,
        caller: &Caller,
        key: &ScopeKey,
        code: &str,
    ) -> BoxFuture<'static, Result<(), LoginRefusal>>;
}

/// A login that waits for a person.
pub trait PendingLogin: Send + Sync {
    /// Link that the person has to open.
    fn link(&self) -> &str;
    /// Whether the last page shows a code, which the caller has to send: a link may be passed to another person, whose account
    /// the caller must not use.
    fn needs_code(&self) -> bool;
    /// How far it is.
    fn step(&self) -> LoginStep;
    /// Waits until the login is no longer at this step.
    fn wait_beyond<'a>(&'a self, step: &'a LoginStep) -> BoxFuture<'a, LoginStep>;
}

/// How far a login is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginStep {
    /// The person has not completed it.
    Open,
    /// The caller has to send the code.
    NeedsCode,
    /// The caller has a credential.
    Done,
    /// It failed, with this reason.
    Failed(String),
}

/// A login that calls need, as `describe` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginPreview {
    /// The person has to open a link.
    Link {
        /// The link.
        link: String,
        /// Whether the caller has to send a code then.
        needs_code: bool,
    },
    /// The caller has to send the code.
    Code,
    /// Only a call begins it.
    Later,
}

/// Reason for which a code does not complete a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginRefusal {
    /// No login of the caller waits for a code.
    Unasked,
    /// The code is wrong; so many more may be tried.
    Wrong(u8),
    /// The login has ended, for this reason.
    Ended(String),
}
