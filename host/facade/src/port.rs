//! Operations of a facade during a call.

use std::{fmt, ops::Deref, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Action, CallJournal, ClientRoots, Failure, Object, Reply, Request, Stop, Surface, trace::ParentSpan,
};

/// Operations of a facade during a call. The gate implements it once, so the same rules apply to all calls.
pub trait Port: Send + Sync + 'static {
    /// Reports progress. Coalesced: the latest wins. Never blocks.
    fn progress(&self, progress: Progress);
    /// Writes a line to the host's log, under the facade's name.
    fn log(&self, level: LogLevel, text: &str);
    /// The span of the call, under which those of its parts begin.
    fn span(&self) -> ParentSpan {
        ParentSpan::default()
    }
    /// Whether the caller has disconnected or cancelled.
    fn is_cancelled(&self) -> bool;
    /// Resolves when the caller has disconnected or cancelled.
    fn cancelled(&self) -> BoxFuture<'_, ()>;
    /// Moves the call to a runtime for computing, if it is not on one. For facades that are
    /// [I/O-bound](crate::Facade::is_io_bound).
    fn leave_io(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
    /// Asks the person. Meanwhile the call is parked: its clocks are paused and it holds no permit. A link that the client
    /// cannot open fails with `denied`, in a text that passes the link on.
    fn elicit(&self, question: Question) -> BoxFuture<'_, Result<Answer, Failure>>;
    /// Whether the person may be asked by a form now: checked before it is parsed.
    fn may_elicit(&self) -> Result<(), Failure> {
        Ok(())
    }
    /// Returns the directories that the client names as its roots. They are the client's claim; the facade checks them.
    fn client_roots(&self) -> BoxFuture<'_, ClientRoots> {
        Box::pin(std::future::ready(ClientRoots::absent("the call has no client")))
    }
    /// Whether an action of another facade may be called: checked before its parameters are parsed.
    fn may_invoke(&self, facade: &str, action: &str) -> Result<(), Failure> {
        let _ = (facade, action);
        Ok(())
    }
    /// Returns the journal of the call, once: the facade continues from what an earlier process recorded, and records its own
    /// progress. `None` if the call is not durable.
    fn take_journal(&self) -> Option<CallJournal> {
        None
    }
    /// Calls another facade, by the same rules as any call.
    fn invoke(&self, request: Request) -> BoxFuture<'_, Result<Reply, Stop>>;
    /// Calls another facade like [`invoke`](Self::invoke). The call is not cancelled with this one, but once `cancelled` resolves.
    fn invoke_apart(
        &self,
        request: Request,
        cancelled: BoxFuture<'static, ()>,
    ) -> BoxFuture<'_, Result<Reply, Stop>> {
        drop(cancelled);
        self.invoke(request)
    }
    /// Lets the call go on for at most this long after it is cancelled or its clock runs out: it undoes what it has done.
    fn begin_cleanup(&self, most: Duration) {
        let _ = most;
    }
    /// The facades that this one may call, each with the actions it may call.
    fn facades(&self) -> Result<Vec<Surface>, Failure>;
    /// One action of another facade that this one may call.
    fn lookup(&self, facade: &str, action: &str) -> Result<PeerAction, Failure>;
    /// Whether a call to another facade would be permitted: all checks without the call itself.
    fn check(&self, request: Request) -> Result<(), Failure>;
}

/// An action of another facade, as its callers see it.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerAction {
    /// The action.
    pub action: Action,
    /// Name and parameters on one line.
    pub signature: String,
    /// True if a person confirms each call.
    pub confirm: bool,
    /// True if a durable call of it goes on after a restart.
    pub is_durable: bool,
}

/// A cheap clone of the port that a call came with.
#[derive(Clone)]
pub struct Session(Arc<dyn Port>);

impl Session {
    /// Wraps a port.
    pub fn new(port: Arc<dyn Port>) -> Self {
        Self(port)
    }
}

impl Deref for Session {
    type Target = dyn Port;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session")
    }
}

/// Progress of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Units done.
    pub done: f64,
    /// Units there are, if known.
    pub total: Option<f64>,
    /// Description of the current work.
    pub message: Option<String>,
}

/// The weight of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Finest.
    Trace,
    /// For the author.
    Debug,
    /// For the operator.
    Info,
    /// Something is odd.
    Warn,
    /// Something is wrong.
    Error,
}

impl LogLevel {
    /// The word in logs and traces.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// A question to the person.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Text of the question.
    pub message: String,
    /// Form or link.
    pub kind: QuestionKind,
    /// The facade's name for the question: a client of 2026-07-28 that knows the name may send the answer along with
    /// the call.
    pub name: Option<String>,
    /// How long it stays open: by default the host's limit, and never longer than half an hour; up to 30 days in a
    /// [durable](crate::Facade::is_durable) call.
    pub timeout: Option<Duration>,
}

impl Question {
    /// A form without a name, open for as long as the host allows by default.
    pub fn form(message: impl Into<String>, schema: Object) -> Self {
        Self { message: message.into(), kind: QuestionKind::Form { schema }, name: None, timeout: None }
    }

    /// A link without a name, open for as long as the host allows by default.
    pub fn link(message: impl Into<String>, url: impl Into<String>) -> Self {
        let kind = QuestionKind::Link { url: url.into() };
        Self { message: message.into(), kind, name: None, timeout: None }
    }
}

/// The two ways to ask a person.
#[derive(Debug, Clone, PartialEq)]
pub enum QuestionKind {
    /// A form to fill in. The client sees the answer.
    Form {
        /// JSON Schema of the answer: a flat object of primitives.
        schema: Object,
    },
    /// A link to open, for what must not pass through the client: credentials, consent, payments.
    Link {
        /// Absolute URL.
        url: String,
    },
}

/// Answer of the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The form, filled in. `Value::Null` for a link: the person agreed to open it, and may not be done there yet.
    Accepted(Value),
    /// No.
    Declined,
    /// Neither yes nor no: the question was closed.
    Cancelled,
}
