//! Checks messages of a stdio client until it has chosen a lifecycle, by `initialize` or by a first request of 2026-07-28.
//!
//! Until then rmcp accepts only requests, and exits on anything else with a dump of the message. Here, an early notification
//! or response is dropped instead, as JSON-RPC requires.

use std::borrow::Cow;

use rmcp::{
    ErrorData, RoleServer,
    model::{ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion},
    service::RxJsonRpcMessage,
};

use crate::jsonrpc::refusals::INCOMPLETE_INITIALIZE;

/// State of a client until it has chosen its lifecycle.
#[derive(Debug)]
pub struct ClientOpening {
    /// Supported revisions.
    versions: Cow<'static, [ProtocolVersion]>,
    has_lifecycle: bool,
}

/// Decision on a message.
#[derive(Debug, PartialEq)]
pub enum OpeningDecision {
    /// Pass it to MCP.
    Pass,
    /// Drop it: it comes too early, and expects no response.
    Drop,
    /// Respond with this error.
    Refuse(ErrorData),
}

impl ClientOpening {
    /// Creates the state for a server that supports these revisions.
    pub fn new(versions: Cow<'static, [ProtocolVersion]>) -> Self {
        Self { versions, has_lifecycle: false }
    }

    /// Whether the client has chosen its lifecycle.
    pub fn has_lifecycle(&self) -> bool {
        self.has_lifecycle
    }

    /// Decides on the next message.
    pub fn check(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> OpeningDecision {
        let request = match message {
            _ if self.has_lifecycle => return OpeningDecision::Pass,
            JsonRpcMessage::Request(request) => &request.request,
            _ => return OpeningDecision::Drop,
        };
        match request {
            ClientRequest::InitializeRequest(_) => self.has_lifecycle = true,
            // rmcp parses a known method with malformed parameters as a custom request.
            ClientRequest::CustomRequest(custom) if custom.method == "initialize" => {
                return OpeningDecision::Refuse(ErrorData::invalid_params(INCOMPLETE_INITIALIZE, None));
            }
            // Both are allowed in any lifecycle, and choose none.
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => {}
            request => {
                let meta = request.get_meta();
                let is_whole = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
                self.has_lifecycle = is_whole
                    && meta.protocol_version().is_some_and(|version| self.versions.contains(&version));
            }
        }
        OpeningDecision::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_or_stateless_request_chooses_the_lifecycle() {
        const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"VERSION","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let request = |method: &str, params: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#)
        };
        let meta = |version: &str| META.replace("VERSION", version);
        let hello =
            r#""protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"0"}"#;
        let notice = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        for (first, passes, then) in [
            (request("initialize", hello), true, true),
            (request("initialize", r#""protocolVersion":5"#), false, false),
            (request("tools/list", &meta("2026-07-28")), true, true),
            (request("tools/list", &meta("2031-01-01")), true, false),
            (request("tools/list", ""), true, false),
            (request("server/discover", &meta("2026-07-28")), true, false),
            (request("ping", ""), true, false),
            (notice.to_owned(), false, false),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(), false, false),
        ] {
            let mut opening = ClientOpening::new(Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS));
            let mut enters =
                |text: &str| opening.check(&serde_json::from_str(text).unwrap()) == OpeningDecision::Pass;
            assert_eq!((enters(&first), enters(notice)), (passes, then), "{first}");
        }
    }
}
