//! One invocation of an action.

use std::{fmt, time::Instant};

use data_encoding::HEXLOWER;

use crate::{Detail, Object, Session};

/// Names a call in logs and in results. Unique within a process; says nothing about the caller.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CallId(pub String);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Key of a plugin's state for this caller: a digest of caller and plugin, so that neither the sandbox nor another
/// plugin learns the caller's identity. Anonymous callers have none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScopeKey(pub [u8; 32]);

impl ScopeKey {
    /// The opaque name of the caller that a plugin may learn: the same for each of that caller's calls, and another
    /// for each plugin.
    pub fn caller(&self) -> String {
        format!("caller_{}", HEXLOWER.encode(&self.0[..16]))
    }
}

/// One invocation: validated, permitted, with a budget.
pub struct Call {
    /// For logs, and for a plugin that wants to name its own work.
    pub id: CallId,
    /// One of the surface's actions, by its own name.
    pub action: String,
    /// Valid against the action's schema, defaults filled in.
    pub params: Object,
    /// The same as JSON, if the gate has it already.
    pub params_text: Option<String>,
    /// Level of detail that the caller requests.
    pub detail: Detail,
    /// Where this caller's own state lives, if the caller has any.
    pub scope: Option<ScopeKey>,
    /// When the call's wall clock ends. A parked call's deadline moves on; see the gate.
    pub deadline: Instant,
    /// Given by the caller so that a repeated call does its work once.
    pub idempotency_key: Option<String>,
    /// Operations of the facade during the call.
    pub session: Session,
}
