//! One invocation of an action, and the request that it began as.

use std::{
    fmt,
    time::{Duration, Instant},
};

use crate::{Object, Session};

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

/// Under which key a plugin's state for this caller is kept: a digest of caller and plugin, so that neither the
/// sandbox nor another plugin learns who asked. Anonymous callers have none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScopeKey(pub [u8; 32]);

impl ScopeKey {
    /// The opaque name of the caller that a plugin may learn: the same for each of that caller's calls, and another
    /// for each plugin.
    pub fn caller(&self) -> String {
        use fmt::Write;
        let mut name = String::from("caller_");
        for byte in &self.0[..16] {
            // Writing to a string does not fail.
            let _ = write!(name, "{byte:02x}");
        }
        name
    }
}

/// How much of a result the caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Only what identifies things.
    Minimal,
    /// What is usually wanted.
    #[default]
    Standard,
    /// Everything.
    Full,
}

impl Detail {
    /// All levels, least first.
    pub const ALL: [Self; 3] = [Self::Minimal, Self::Standard, Self::Full];

    /// The word in a call's arguments.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }

    /// The level of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.as_str() == text)
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
    /// How much the caller wants back.
    pub detail: Detail,
    /// Where this caller's own state lives, if the caller has any.
    pub scope: Option<ScopeKey>,
    /// When the call's wall clock ends. A parked call's deadline moves on; see the gate.
    pub deadline: Instant,
    /// Given by the caller so that a repeated call does its work once.
    pub idempotency_key: Option<String>,
    /// What the facade may do while it answers.
    pub session: Session,
}

/// What a caller asks for, before anything was looked up or checked.
#[derive(Debug, Clone)]
pub struct Request {
    /// The facade's name, which is the MCP tool's.
    pub facade: String,
    /// Which action, with which parameters.
    pub input: Input,
    /// A shorter wall clock than the policy's.
    pub timeout: Option<Duration>,
    /// See [`Call::idempotency_key`].
    pub idempotency_key: Option<String>,
}

/// The two ways in which a call names its action.
#[derive(Debug, Clone)]
pub enum Input {
    /// Arguments as an MCP client sends them, in any of the accepted shapes; the gate routes them.
    Arguments(Object),
    /// An action and its parameters, already apart: a plugin's call to another facade, a workflow's step.
    Action {
        /// The action's name or one of its aliases.
        action: String,
        /// Its parameters.
        params: Object,
        /// How much is wanted back.
        detail: Detail,
    },
}
