//! What a client on stdio may send before it has chosen a lifecycle, by `initialize` or by a first request of 2026-07-28.
//!
//! Until then rmcp takes requests only; anything else it takes for a reason to end, with a dump of the message. A notification
//! or an answer that comes too early is passed over here instead, as JSON-RPC has it.

use std::borrow::Cow;

use rmcp::{
    ErrorData, RoleServer,
    model::{ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion},
    service::RxJsonRpcMessage,
};

/// Whether a client has chosen its lifecycle yet.
#[derive(Debug)]
pub struct ClientOpening {
    /// Revisions that are served.
    versions: Cow<'static, [ProtocolVersion]>,
    has_lifecycle: bool,
}

/// What becomes of a message.
#[derive(Debug, PartialEq)]
pub enum OpeningDecision {
    /// It goes on to MCP.
    Pass,
    /// It comes too early, and nobody waits for an answer to it.
    Drop,
    /// It is answered so.
    Refuse(ErrorData),
}

impl ClientOpening {
    /// Of a server with these revisions.
    pub fn new(versions: Cow<'static, [ProtocolVersion]>) -> Self {
        Self { versions, has_lifecycle: false }
    }

    /// What becomes of the next message.
    pub fn check(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> OpeningDecision {
        let request = match message {
            _ if self.has_lifecycle => return OpeningDecision::Pass,
            JsonRpcMessage::Request(request) => &request.request,
            _ => return OpeningDecision::Drop,
        };
        match request {
            ClientRequest::InitializeRequest(_) => self.has_lifecycle = true,
            // What is no request that MCP knows is one of the client's own; so is this where its parameters are wrong.
            ClientRequest::CustomRequest(custom) if custom.method == "initialize" => {
                let said =
                    "Invalid params: `initialize` needs `protocolVersion`, `capabilities` and `clientInfo`";
                return OpeningDecision::Refuse(ErrorData::invalid_params(said, None));
            }
            // Both are answered in any lifecycle, and choose none.
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
