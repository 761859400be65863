//! Guards: what looks at calls before they run, and at their outcomes before anyone sees them.
//!
//! | file | concept |
//! |---|---|
//! | `outcome.rs` | an outcome as the JSON that guards see, and replacements of it |

mod outcome;

use std::sync::Arc;

use futures_util::future::BoxFuture;

pub use self::outcome::{OutcomeError, render_outcome, replace_outcome};
use crate::{Detail, Effect, Failure, Fault, ScopeKey};

/// Looks at the calls of facades. Whatever it does wrong is a fault, and whoever asks it lets nothing pass then.
pub trait CallGuard: Send + Sync + 'static {
    /// Artifact that it came from, for logs: `sha256:…`.
    fn origin(&self) -> &str;

    /// Looks at a validated call. A replacement is the JSON text of an object of parameters.
    fn before(self: Arc<Self>, call: Arc<GuardedCall>) -> BoxFuture<'static, Result<GuardVerdict, Fault>>;

    /// Looks at an outcome, as [`render_outcome`] renders it. A replacement is such a text, for [`replace_outcome`].
    fn after(
        self: Arc<Self>,
        call: Arc<GuardedCall>,
        outcome: String,
    ) -> BoxFuture<'static, Result<GuardVerdict, Fault>>;
}

/// A call as guards see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardedCall {
    /// Name of the facade, as it is served.
    pub facade: String,
    /// Name of the action.
    pub action: String,
    /// Effect of the action.
    pub effect: Effect,
    /// Parameters with their defaults: the JSON text of an object.
    pub params: String,
    /// Level of detail that the caller requests.
    pub detail: Detail,
    /// Key by which the guard knows the caller, if the operator grants that.
    pub scope: Option<ScopeKey>,
}

/// What a guard says of a call or an outcome.
#[derive(Debug, Clone, PartialEq)]
pub enum GuardVerdict {
    /// It passes as it is.
    Allow,
    /// It does not pass; the caller gets this failure.
    Refuse(Failure),
    /// This passes in its place: JSON.
    Replace(String),
}
