//! Unsuccessful results of calls.
//!
//! A [`Failure`] is reported to the caller, with a message that helps to correct the call. A [`Fault`] is the plugin's
//! own: a trap, a spent budget, bad output. The circuit breaker and the audit log must distinguish them, so [`Stop`]
//! does.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Next;

/// The codes that the host itself uses and knows. A plugin may use others.
pub mod code {
    /// The parameters, or the action's name, are not what the action takes.
    pub const INVALID_PARAMS: &str = "invalid_params";
    /// Something named in the call does not exist.
    pub const NOT_FOUND: &str = "not_found";
    /// The policy, or the world, does not allow it.
    pub const DENIED: &str = "denied";
    /// A concurrent change, or something exists already.
    pub const CONFLICT: &str = "conflict";
    /// Not now: busy, reloading, quarantined, removed.
    pub const UNAVAILABLE: &str = "unavailable";
    /// A clock ran out.
    pub const TIMED_OUT: &str = "timed_out";
    /// The caller disconnected or cancelled.
    pub const CANCELLED: &str = "cancelled";
    /// The plugin or the host is at fault.
    pub const INTERNAL: &str = "internal";

    /// All of them.
    pub const ALL: [&str; 8] =
        [INVALID_PARAMS, NOT_FOUND, DENIED, CONFLICT, UNAVAILABLE, TIMED_OUT, CANCELLED, INTERNAL];
}

/// A failed call, as reported to the caller.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Failure {
    /// One of [`code`], or the plugin's own.
    pub code: String,
    /// Begins plainly: "`name` is required", "not found", "access denied".
    pub message: String,
    /// Remedy.
    pub hint: Option<String>,
    /// More, for a program.
    pub details: Option<Value>,
    /// When trying again may help.
    pub retry_after_ms: Option<u64>,
    /// A call that recovers from the failure.
    pub next: Option<Next>,
    /// The action's signature, filled in by the gate.
    pub expected: Option<String>,
    /// Arguments that would be valid, filled in by the gate.
    pub example: Option<Value>,
}

impl Failure {
    /// A failure of this code, with this message.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), ..Self::default() }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// A failure that is the facade's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Which facade.
    pub facade: String,
    /// One sentence for the model: no paths, no backtrace.
    pub message: String,
    /// The limit that was hit.
    pub limit: Option<Limit>,
    /// For the log only: backtrace, the guest's last words.
    pub log: Option<String>,
    /// For the log of an author: functions with their source lines, the innermost first. Empty unless the sandbox reads them.
    pub trace: Vec<String>,
}

impl Fault {
    /// A fault without a limit and without texts for logs.
    pub fn new(kind: FaultKind, facade: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind,
            facade: facade.into(),
            message: message.into(),
            limit: None,
            log: None,
            trace: Vec::new(),
        }
    }
}

/// The kinds of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The guest trapped.
    Trap,
    /// The guest panicked.
    Panic,
    /// The guest called `exit`.
    Exit,
    /// CPU time used up.
    Cpu,
    /// Wall clock used up.
    Wall,
    /// More memory than it may have.
    Memory,
    /// Too deep a recursion.
    Stack,
    /// More handles, tables or instances than it may have.
    Resources,
    /// The result is larger than it may be.
    OutputSize,
    /// The result is not what the contract says.
    BadOutput,
    /// The host's own mistake.
    Host,
}

impl FaultKind {
    /// The word used in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trap => "trap",
            Self::Panic => "panic",
            Self::Exit => "exit",
            Self::Cpu => "cpu",
            Self::Wall => "wall",
            Self::Memory => "memory",
            Self::Stack => "stack",
            Self::Resources => "resources",
            Self::OutputSize => "output_size",
            Self::BadOutput => "bad_output",
            Self::Host => "host",
        }
    }

    /// Whether a retry of the same call may succeed.
    pub fn retry_can_help(self) -> bool {
        matches!(self, Self::Wall | Self::Host)
    }
}

/// A limit of the policy's, or of the host's as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The key of the policy file that changes it, for example `limits.memory`, or the host's own option.
    pub key: &'static str,
    /// Current value, as in a policy file.
    pub value: String,
}

impl Limit {
    /// Whether a policy can change it.
    pub fn is_of_policy(&self) -> bool {
        !self.key.starts_with("--")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<&Fault> for Failure {
    /// Renders a fault for the caller: the sentence, the limit with its key, and whether a retry can help.
    fn from(fault: &Fault) -> Self {
        let code = match fault.kind {
            FaultKind::Cpu | FaultKind::Wall => code::TIMED_OUT,
            _ => code::INTERNAL,
        };
        let again = if fault.kind.retry_can_help() {
            "Trying again may help."
        } else {
            "The same call will fail again; change its parameters or use another action."
        };
        let hint = match &fault.limit {
            Some(limit) if limit.is_of_policy() => format!(
                "{again} The operator can raise `{}` (now {}) in the policy of `{}`.",
                limit.key, limit.value, fault.facade
            ),
            Some(limit) => format!(
                "{again} The operator can start the host with a larger `{}` (now {}).",
                limit.key, limit.value
            ),
            None => again.to_owned(),
        };
        Self::new(code, fault.message.clone()).hint(hint)
    }
}

/// Why a call ended without a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// Reported to the caller.
    Failure(Failure),
    /// The facade's own.
    Fault(Fault),
    /// The caller disconnected or cancelled.
    Cancelled,
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Stop> for Failure {
    /// Converts to the failure that the caller gets.
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Failure(failure) => failure,
            Stop::Fault(fault) => Self::from(&fault),
            Stop::Cancelled => Self::new(code::CANCELLED, "cancelled"),
        }
    }
}
