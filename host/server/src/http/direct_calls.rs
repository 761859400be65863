//! Answers calls with plain JSON, without rmcp's service, if they end at once; see `mcp/direct.rs`.

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
    mcp::{DirectClient, DirectOutcome, McpHandler, ServedEndpoint},
};

/// Begins the call of a request whose session, if it has one, is awake. `session` is the client of that. `None`: rmcp must get the
/// request, and the call, if it has begun.
pub async fn answer_directly(
    handler: &McpHandler,
    request: &mut Request,
    mut call: PlainToolCall,
    session: Option<&InitializeRequestParams>,
) -> Option<Response> {
    // Not the request itself, whose body no other thread may share.
    let headers = request.headers();
    let client = match session {
        Some(client) if has_session_headers(headers) => DirectClient::OfSession(client),
        None if has_stateless_headers(headers, &call.params.name)
            && !handler.has_header_parameters(&call.params.name) =>
        {
            DirectClient::OfRequest(handler.client_of_call(&call)?)
        }
        _ => return None,
    };
    let header = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
    let (origin, endpoint) = (request.extensions().get::<CallOrigin>(), request.extensions().get());
    let view = endpoint.map(|endpoint: &Arc<ServedEndpoint>| endpoint.view_in_session(client.params()));
    match handler.begin_direct_call(&mut call, &client, (origin, view), header).await {
        DirectOutcome::Answered(text, _) => {
            Some(([(CONTENT_TYPE, "application/json")], text).into_response())
        }
        DirectOutcome::Started(started) => {
            request.extensions_mut().insert(started);
            // rmcp reads the message once more, mostly without the arguments, which the call has taken.
            if !client.repeats_arguments()
                && let Ok(text) = serde_json::to_vec(&call.into_message())
            {
                *request.body_mut() = Body::from(text);
            }
            None
        }
        DirectOutcome::Declined => None,
    }
}

/// Returns true if rmcp would accept these headers of a session's request. It reports all others.
fn has_session_headers(headers: &HeaderMap) -> bool {
    let is_known = |version: &str| {
        ProtocolVersion::KNOWN_VERSIONS
            .iter()
            .any(|known| known.as_str() == version && known.has_initialize())
    };
    let version = only_value(headers, "mcp-protocol-version");
    accepts_both(headers) && version.is_none_or(|version| version.is_some_and(is_known))
}

/// Returns true if rmcp would accept these headers of a call of this tool without a session, if the call names the same revision.
fn has_stateless_headers(headers: &HeaderMap, tool: &str) -> bool {
    let is = |name: &str, value: &str| only_value(headers, name) == Some(Some(value));
    accepts_both(headers)
        && is("mcp-protocol-version", ProtocolVersion::V_2026_07_28.as_str())
        && is("mcp-method", "tools/call")
        && is("mcp-name", tool)
}

/// Returns true if the client accepts both forms of a response. With weights or quotes, rmcp decides.
fn accepts_both(headers: &HeaderMap) -> bool {
    let accepted = only_value(headers, ACCEPT.as_str()).flatten();
    let Some(accepted) = accepted.filter(|accepted| !accepted.contains('"')) else { return false };
    let takes = |wanted: &str| accepted.split(',').any(|media| media.trim().eq_ignore_ascii_case(wanted));
    takes("application/json") && takes("text/event-stream")
}

/// Returns the value of a header; `Some(None)` if it is not text, or there are several.
fn only_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    Some(first.to_str().ok().filter(|_| values.next().is_none()))
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
            (Some(r#"text/html;a="b,application/json,text/event-stream,c""#), None, false),
            (None, None, false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(ACCEPT, accept.parse().unwrap());
            }
            if let Some(version) = version {
                headers.insert("mcp-protocol-version", version.parse().unwrap());
            }
            assert_eq!(has_session_headers(&headers), direct, "{accept:?} {version:?}");
        }
    }

    #[test]
    fn calls_without_a_session_name_method_and_tool() {
        let usual = [
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "notes"),
        ];
        let direct = |changed: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in
                usual.iter().filter(|(name, _)| changed.iter().all(|(other, _)| other != name))
            {
                headers.append(*name, value.parse().unwrap());
            }
            for (name, value) in changed.iter().filter(|(_, value)| !value.is_empty()) {
                headers.append(*name, value.parse().unwrap());
            }
            has_stateless_headers(&headers, "notes")
        };
        assert!(direct(&[]));
        for changed in [
            &[("accept", "application/json")][..],
            &[("mcp-protocol-version", "2025-11-25")],
            &[("mcp-protocol-version", "2031-01-01")],
            &[("mcp-protocol-version", "")],
            &[("mcp-method", "tools/list")],
            &[("mcp-method", "")],
            &[("mcp-method", "tools/call"), ("mcp-method", "tools/call")],
            &[("mcp-name", "other")],
            &[("mcp-name", "")],
            &[("mcp-name", "notes"), ("mcp-name", "other")],
            &[("mcp-name", "=?base64?bm90ZXM=?=")],
        ] {
            assert!(!direct(changed), "{changed:?}");
        }
    }
}
