//! What hosts send each other, as JSON.

use loggia_gate::{access::OriginRecord, mail::HostMail};
use rmcp::model::InitializeRequestParams;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A message from one host to another.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FleetMessage {
    /// A request of a client, to be answered on its channel.
    Request(Box<ForwardedRequest>),
    /// A notification or the response of a forwarded request.
    Event { channel: u64, message: Value },
    /// Asks whether a request is still being answered.
    Ping { from: String, channel: u64 },
    /// Answers a ping.
    Pong { channel: u64, is_answering: bool },
    /// The client of a request has gone.
    Cancel { from: String, channel: u64 },
    /// A client's message in a session, for calls that another host runs.
    Session { session: String, message: Value },
    /// What a host serves, and what it could serve.
    Versions(VersionReport),
    /// A client has ended its session.
    SessionEnd { session: String },
}

/// What another host sends about a request.
pub(super) enum LinkEvent {
    /// A notification, or the response.
    Message(Value),
    /// Whether it still answers.
    Pong(bool),
}

/// What a host serves, and what it could serve: digests of all its files.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VersionReport {
    /// Address of the host.
    pub from: String,
    /// Served now.
    pub served: String,
    /// Loaded, and to be served.
    pub ready: Option<String>,
    /// True if a file does not load.
    pub has_failed: bool,
}

impl VersionReport {
    /// Sends it to all other hosts.
    pub fn send(self, mail: &dyn HostMail) {
        mail.send_all(FleetMessage::Versions(self).to_bytes());
    }
}

/// A request that another host answers.
#[derive(Serialize, Deserialize)]
pub(crate) struct ForwardedRequest {
    /// Address of the host that the client has asked.
    pub from: String,
    /// Number of the request on that host.
    pub channel: u64,
    /// Who asks.
    pub origin: OriginRecord,
    /// The client, if its revision has sessions.
    pub client: Option<InitializeRequestParams>,
    /// The request.
    pub message: Value,
}

impl FleetMessage {
    /// Writes it as JSON.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Only a map with keys that are not texts cannot be written; there is none.
        serde_json::to_vec(self).unwrap_or_default()
    }
}
