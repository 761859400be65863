//! The request for a call, before anything was looked up or checked.

use std::time::Duration;

use crate::{Object, trace::ParentSpan};

/// Level of detail of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Only what identifies things.
    Minimal,
    /// The usual fields.
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

/// A caller's request, before any lookup or check.
#[derive(Debug, Clone)]
pub struct Request {
    /// The facade's name, which is the MCP tool's.
    pub facade: String,
    /// Which action, with which parameters.
    pub input: Input,
    /// A shorter wall clock than the policy's.
    pub timeout: Option<Duration>,
    /// See [`Call::idempotency_key`](crate::Call::idempotency_key).
    pub idempotency_key: Option<String>,
    /// Span under which a call runs that another makes. Empty: the other call's own.
    pub span: ParentSpan,
}

impl Request {
    /// A request without a timeout or a key of its own.
    pub fn new(facade: impl Into<String>, input: Input) -> Self {
        let span = ParentSpan::default();
        Self { facade: facade.into(), input, timeout: None, idempotency_key: None, span }
    }
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
        /// Parameters.
        params: Object,
        /// Level of detail of the reply.
        detail: Detail,
    },
}
