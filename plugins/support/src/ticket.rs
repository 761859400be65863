//! A ticket as it is stored and shown.

use std::time::SystemTime;

use humantime::format_rfc3339_seconds;
use loggia_sdk::{prelude::*, state::Cell, state::Collection};

/// All tickets, under `s_0001`, `s_0002`, …
pub static TICKETS: Collection<Ticket> = Collection::new("tickets");

/// Prefix of ids.
pub const PREFIX: &str = "s_";

/// The open tickets in their order. Handoffs with the same reason share one ticket, and the queue's length is bounded, so
/// it is one row.
pub static QUEUE: Cell<Vec<Waiting>> = Cell::new("queue");

/// Maximum number of open tickets.
pub const OPEN: usize = 200;

/// How the person wants to be reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    #[default]
    Chat,
    Call,
}

/// State of a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TicketState {
    Open,
    Closed,
}

/// A request for an agent. New fields need a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ticket {
    pub id: String,
    pub reason: String,
    pub state: TicketState,
    pub channel: Channel,
    pub created: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    /// Place in the queue: 1 is next. Not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
}

/// An open ticket in the queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    pub id: String,
    pub reason: String,
}

impl Ticket {
    /// A new one.
    pub fn new(id: &str, reason: &str, channel: Channel) -> Self {
        Self {
            id: id.to_owned(),
            reason: reason.to_owned(),
            state: TicketState::Open,
            channel,
            created: now(),
            closed: None,
            resolution: None,
            position: None,
        }
    }

    /// Adds its place in the queue.
    #[must_use]
    pub fn placed(self, queue: &[Waiting]) -> Self {
        let at = queue.iter().position(|waiting| waiting.id == self.id);
        Self { position: at.map(|at| at + 1), ..self }
    }
}

/// Failure for an unknown ticket.
pub fn missing(id: &str) -> Failure {
    Failure::not_found(format!("not found: there is no ticket `{id}`"))
        .hint("`list` shows the open tickets, or with `closed` the closed ones.")
        .next(Next::action("list"))
}

/// Current time in the stored format.
pub fn now() -> String {
    format_rfc3339_seconds(SystemTime::now()).to_string()
}
