//! Answers calls of sessions with plain JSON, without rmcp's service, if they end at once; see `mcp/direct.rs`.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::Request,
    http::{
        HeaderMap,
        header::{ACCEPT, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use loggia_gate::access::CallOrigin;
use rmcp::model::{InitializeRequestParams, ProtocolVersion};

use crate::{
    jsonrpc::tool_call::PlainToolCall,
    mcp::{DirectOutcome, McpHandler, ServedEndpoint},
};

/// Begins the call of a request whose session is awake. `None`: rmcp must get the request, and the call, if it has begun.
pub async fn answer_directly(
    handler: &McpHandler,
    request: &mut Request,
    mut call: PlainToolCall,
    client: &InitializeRequestParams,
) -> Option<Response> {
    // Not the request itself, whose body no other thread may share.
    let headers = request.headers();
    if !has_usual_headers(headers) {
        return None;
    }
    let header = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
    let (origin, endpoint) = (request.extensions().get::<CallOrigin>(), request.extensions().get());
    let view = endpoint.map(|endpoint: &Arc<ServedEndpoint>| endpoint.view_in_session(client));
    match handler.begin_direct_call(&mut call, client, (origin, view), header).await {
        DirectOutcome::Answered(text, _) => {
            Some(([(CONTENT_TYPE, "application/json")], text).into_response())
        }
        DirectOutcome::Started(started) => {
            request.extensions_mut().insert(started);
            // rmcp reads the message once more, but the call has taken its arguments.
            if let Ok(text) = serde_json::to_vec(&call.into_message()) {
                *request.body_mut() = Body::from(text);
            }
            None
        }
        DirectOutcome::Declined => None,
    }
}

/// Returns true if rmcp would accept these headers of a session's request. It reports all others.
fn has_usual_headers(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(ACCEPT).iter();
    let takes_both = match (accepted.next().map(|value| value.to_str()), accepted.next()) {
        // With weights, rmcp decides.
        (Some(Ok(accepted)), None) => {
            let takes =
                |wanted: &str| accepted.split(',').any(|media| media.trim().eq_ignore_ascii_case(wanted));
            takes("application/json") && takes("text/event-stream")
        }
        _ => false,
    };
    let is_known = |version: &str| {
        ProtocolVersion::KNOWN_VERSIONS
            .iter()
            .any(|known| known.as_str() == version && known.has_initialize())
    };
    let mut versions = headers.get_all("mcp-protocol-version").iter();
    let version = match (versions.next().map(|version| version.to_str()), versions.next()) {
        (None, _) => true,
        (Some(Ok(version)), None) => is_known(version),
        _ => false,
    };
    takes_both && version
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_that_rmcp_would_accept_are_direct() {
        const BOTH: &str = "application/json, text/event-stream";
        for (accept, version, direct) in [
            (Some(BOTH), None, true),
            (Some(BOTH), Some("2025-06-18"), true),
            (Some("text/event-stream,Application/JSON"), Some("2025-11-25"), true),
            (Some(BOTH), Some("2026-07-28"), false),
            (Some(BOTH), Some("2031-01-01"), false),
            (Some("application/json"), None, false),
            (Some("text/event-stream"), None, false),
            (Some("*/*"), None, false),
            (Some("application/json;q=0, text/event-stream"), None, false),
            (None, None, false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(ACCEPT, accept.parse().unwrap());
            }
            if let Some(version) = version {
                headers.insert("mcp-protocol-version", version.parse().unwrap());
            }
            assert_eq!(has_usual_headers(&headers), direct, "{accept:?} {version:?}");
        }
    }
}
