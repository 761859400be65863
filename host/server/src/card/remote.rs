//! How to connect: the address, the header with a token, and the revisions of MCP.

use loggia_policy::settings::{Auth, Revision};
use rmcp::model::ProtocolVersion;
use serde_json::{Value, json};

/// How clients may connect to all endpoints of a server.
#[derive(Debug)]
pub struct RemoteAccess<'a> {
    pub auth: &'a Auth,
    /// The newest revision that is offered; `None` offers all.
    pub newest: Option<Revision>,
}

/// One endpoint.
#[derive(Debug)]
pub struct RemoteEndpoint<'a> {
    pub url: String,
    pub access: &'a RemoteAccess<'a>,
}

impl RemoteEndpoint<'_> {
    /// Describes the endpoint.
    pub fn describe(&self) -> Value {
        let mut remote = json!({"type": "streamable-http", "url": self.url});
        if let Some(header) = self.access.token_header() {
            remote["headers"] = json!([header]);
        }
        remote
    }

    /// Describes the endpoint and the revisions that it speaks.
    pub fn with_revisions(&self) -> Value {
        let mut remote = self.describe();
        remote["supportedProtocolVersions"] = self.access.revisions().into();
        remote
    }
}

impl RemoteAccess<'_> {
    /// Describes the header for a token that a person has been given. It is optional where clients can also log in: those find the
    /// authorization server by the answer to their first request.
    fn token_header(&self) -> Option<Value> {
        if self.auth.tokens.is_empty() {
            return None;
        }
        let is_required = self.auth.oauth.is_none();
        Some(json!({
            "name": "Authorization",
            "description": "A token that the operator of this server has issued.",
            "value": "Bearer {token}",
            "isRequired": is_required,
            "isSecret": true,
            "variables": {
                "token": {"description": "The token, without `Bearer`.", "isRequired": is_required, "isSecret": true},
            },
        }))
    }

    /// Returns the revisions that clients are offered, as `server/discover` does.
    fn revisions(&self) -> Vec<&'static str> {
        let known = match self.newest {
            None => ProtocolVersion::KNOWN_VERSIONS,
            Some(Revision::June2025) => ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_06_18),
            Some(Revision::November2025) => ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25),
            Some(Revision::July2026) => ProtocolVersion::known_up_to(&ProtocolVersion::V_2026_07_28),
        };
        known.iter().map(ProtocolVersion::as_str).collect()
    }
}
