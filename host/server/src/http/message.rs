//! Reads a request's body within its limits of size and time, and refuses malformed messages and duplicate names.
//!
//! rmcp responds to an unreadable body with 415. This step responds with a JSON-RPC error, as the protocol requires, and as
//! on stdio.

use std::{borrow::Cow, error::Error, sync::Arc, time::Duration};

use axum::{
    body::{Body, HttpBody, to_bytes},
    extract::Request,
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE},
    },
    response::{IntoResponse, Response, Result},
};
use http_body_util::LengthLimitError;
use loggia_facade::json::has_many_values;
use rmcp::{
    ErrorData,
    model::{ErrorCode, InitializeRequestParams, RequestId},
};
use serde::Deserialize;
use serde_json::Value;

use crate::jsonrpc::{
    ids,
    refusals::{BATCH, INCOMPLETE_INITIALIZE, INVALID, duplicate_name, too_many_values},
    tool_call::PlainToolCall,
    tree::{TreeError, parse_tree},
};

/// Largest `initialize` request: it is kept as long as the session.
const MAX_INITIALIZE: usize = 64 << 10;

/// The first revision without sessions.
pub const STATELESS: &[u8] = b"2026";
/// Methods of sessions alone that rmcp knows.
const SESSION_METHODS: [&str; 2] = ["resources/subscribe", "resources/unsubscribe"];

/// Kind of a message, as far as it matters before MCP parses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// A request for a response.
    Request,
    /// A subscription, whose response stays open.
    Subscription,
    /// A response or a notification.
    Other,
}

impl MessageKind {
    fn of(method: Option<&str>, has_id: bool) -> Self {
        match (method, has_id) {
            (Some("subscriptions/listen"), true) => Self::Subscription,
            (Some(_), true) => Self::Request,
            _ => Self::Other,
        }
    }
}

/// Top-level members of a message.
pub struct MessageHead {
    /// Kind of the message.
    pub kind: MessageKind,
    id: Option<Value>,
    has_method: bool,
    is_initialize: bool,
    /// The method, if only revisions with sessions have it.
    session_method: Option<&'static str>,
    /// The client that begins a session.
    pub client: Option<Arc<InitializeRequestParams>>,
    /// The call, if the message is a plain one.
    pub call: Option<PlainToolCall>,
}

impl MessageHead {
    /// Parses a body, or returns its error.
    fn parse(text: &[u8]) -> Result<Self, MessageError> {
        if has_many_values(text) {
            return Err(MessageError(
                ids::find_id(text),
                ErrorCode::INVALID_REQUEST,
                too_many_values().into(),
            ));
        }
        let tree = match parse_tree(text) {
            Ok(tree) => tree,
            // Of two ids, neither is reliable.
            Err(TreeError::Duplicate(name)) => {
                let id = ids::find_id(text).filter(|_| name != "id");
                return Err(MessageError(id, ErrorCode::INVALID_REQUEST, duplicate_name(&name).into()));
            }
            Err(TreeError::Syntax(error)) => {
                let message = format!("Parse error: {error}");
                return Err(MessageError(ids::find_id(text), ErrorCode::PARSE_ERROR, message.into()));
            }
        };
        let members = match &tree {
            Value::Object(members) => members,
            Value::Array(_) => return Err(MessageError(None, ErrorCode::INVALID_REQUEST, BATCH.into())),
            _ => return Err(MessageError::request(None)),
        };
        let id = members.get("id").cloned();
        let method = match members.get("method") {
            None | Some(Value::Null) => None,
            Some(Value::String(method)) => Some(&**method),
            Some(_) => return Err(MessageError::request(id)),
        };
        // A message has either a method or a result.
        let is_response = members.contains_key("result") || members.contains_key("error");
        if members.get("jsonrpc").is_none_or(|version| version != "2.0") || method.is_some() == is_response {
            // The ids of responses are ours.
            return Err(MessageError::request(id.filter(|_| !is_response)));
        }
        match &id {
            // rmcp would take it for a notification, and never respond.
            Some(bad) if method.is_some() && !ids::is_usable(bad) => {
                return Err(MessageError(id, ErrorCode::INVALID_REQUEST, ids::UNUSABLE_ID.into()));
            }
            _ => {}
        }
        let kind = MessageKind::of(method, id.is_some());
        let (has_method, is_initialize) = (method.is_some(), method == Some("initialize"));
        let session_method = SESSION_METHODS.into_iter().find(|own| method == Some(own));
        let client = is_initialize.then(|| members.get("params")).flatten();
        let client = client.and_then(|params| InitializeRequestParams::deserialize(params).ok());
        let client = client.map(Arc::new);
        Ok(Self {
            kind,
            id,
            has_method,
            is_initialize,
            session_method,
            client,
            call: PlainToolCall::from_tree(tree).ok(),
        })
    }

    /// Refuses a method that the revision of the request no longer has: rmcp would ask for a header of it first. Where there are sessions,
    /// refuses a handshake without what it needs: rmcp would ask for a session.
    fn check_revision(&self, headers: &HeaderMap) -> Result<(), MessageError> {
        let is_stateless =
            headers.get("mcp-protocol-version").is_some_and(|version| version.as_bytes() >= STATELESS);
        if !is_stateless && self.is_initialize && self.id.is_some() && self.client.is_none() {
            let message = INCOMPLETE_INITIALIZE.into();
            return Err(MessageError(self.id.clone(), ErrorCode::INVALID_PARAMS, message));
        }
        match self.session_method.filter(|_| is_stateless && self.id.is_some()) {
            None => Ok(()),
            Some(method) => {
                let message = format!(
                    "Method not found: {method}. This revision has `subscriptions/listen` in its place"
                );
                Err(MessageError(self.id.clone(), ErrorCode::METHOD_NOT_FOUND, message.into()))
            }
        }
    }

    /// Id of a request.
    pub fn request_id(&self) -> Option<RequestId> {
        match self.id.as_ref().filter(|_| self.has_method)? {
            Value::String(id) => Some(RequestId::String(id.as_str().into())),
            id => id.as_i64().map(RequestId::Number),
        }
    }

    /// Replaces the response if rmcp could not parse the message: its type is supported.
    pub fn explain(self, response: Response) -> Response {
        match response.status() {
            StatusCode::UNSUPPORTED_MEDIA_TYPE => self.into_error().into_response(),
            _ => response,
        }
    }

    /// Returns the error for a message that passed these checks but not rmcp's parser: only a request's parameters can be
    /// malformed then.
    fn into_error(self) -> MessageError {
        match self.id.filter(|_| self.has_method) {
            None => MessageError::request(None),
            id => {
                let message = "Invalid params: they and their `_meta` must be objects";
                MessageError(id, ErrorCode::INVALID_PARAMS, message.into())
            }
        }
    }
}

/// Error response to a malformed message: id, code and text.
struct MessageError(Option<Value>, ErrorCode, Cow<'static, str>);

impl MessageError {
    fn request(id: Option<Value>) -> Self {
        Self(id, ErrorCode::INVALID_REQUEST, INVALID.into())
    }
}

impl IntoResponse for MessageError {
    fn into_response(self) -> Response {
        let Self(id, code, message) = self;
        let body = ids::error_answer(id, ErrorData::new(code, message, None));
        let json = [(CONTENT_TYPE, "application/json")];
        let status = match code {
            ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            _ => StatusCode::BAD_REQUEST,
        };
        (status, json, body.to_string()).into_response()
    }
}

/// Limits of a body.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimits {
    /// Maximum size in bytes.
    pub size: usize,
    /// Timeout of reading it.
    pub time: Duration,
}

/// Refuses a body by its `Content-Length`, before any other check. hyper enforces that a body is not longer.
pub fn check_length(bounds: BodyLimits, headers: &HeaderMap) -> Result<()> {
    let length = headers.get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    match length.is_some_and(|length| length > bounds.size as u64) {
        true => Err(too_large(bounds).into()),
        false => Ok(()),
    }
}

/// Reads and checks the body of a message. Requests without one, and of types that rmcp refuses itself, have no message.
pub async fn read_body(bounds: BodyLimits, request: Request) -> Result<(Request, Option<MessageHead>)> {
    if request.method() != Method::POST || !is_json(request.headers()) {
        return Ok((request, None));
    }
    let (parts, body) = request.into_parts();
    let bytes = match tokio::time::timeout(bounds.time, to_bytes(body, bounds.size)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) if error.source().is_some_and(|error| error.is::<LengthLimitError>()) => {
            return Err(too_large(bounds).into());
        }
        Ok(Err(_)) => {
            let message = "the body is truncated, or its chunks are malformed";
            return Err((StatusCode::BAD_REQUEST, message).into());
        }
        Err(_) => {
            let message = format!("the body did not arrive within {} s", bounds.time.as_secs());
            return Err((StatusCode::REQUEST_TIMEOUT, [(CONNECTION, "close")], message).into());
        }
    };
    let head = MessageHead::parse(&bytes)?;
    head.check_revision(&parts.headers)?;
    if head.is_initialize && bytes.len() > MAX_INITIALIZE {
        let message = format!("an `initialize` may have {} KiB at most", MAX_INITIALIZE >> 10);
        return Err((StatusCode::PAYLOAD_TOO_LARGE, message).into());
    }
    Ok((Request::from_parts(parts, Body::from(bytes)), Some(head)))
}

/// Adds the content type that rmcp omits from its error texts.
pub fn add_content_type(mut response: Response) -> Response {
    let status = response.status();
    if (status.is_client_error() || status.is_server_error()) && !response.body().is_end_stream() {
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().entry(CONTENT_TYPE).or_insert(plain);
    }
    response
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value
        .split(';')
        .next()
        .is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case("application/json"))
}

fn too_large(bounds: BodyLimits) -> Response {
    let most = loggia_text::units::format_bytes(bounds.size as u64);
    let message = format!("the body is larger than {most}; the operator can change that by `http.body`");
    (StatusCode::PAYLOAD_TOO_LARGE, message).into_response()
}

#[cfg(test)]
mod tests {
    use rmcp::model::ClientJsonRpcMessage;

    use super::*;

    /// H54, over HTTP.
    #[test]
    fn malformed_messages_are_refused_with_their_id() {
        let deep = "[".repeat(5_000);
        for (text, id, code) in [
            ("", "null", -32700),
            ("{", "null", -32700),
            ("rubbish", "null", -32700),
            (&deep, "null", -32700),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#, "1", -32700),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":1e400}}"#, "1", -32700),
            ("[]", "null", -32600),
            (r#" [{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "null", -32600),
            ("5", "null", -32600),
            ("null", "null", -32600),
            ("{}", "null", -32600),
            (r#"{"id":"a","method":"ping"}"#, r#""a""#, -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "1", -32600),
            (r#"{"jsonrpc":"2.0","id":1}"#, "1", -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "1", -32600),
            (r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}"#, "9223372036854775808", -32600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "1.5", -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "null", -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "null", -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":null}"#, "null", -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":1}}"#, "1", -32600),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, "null", -32600),
        ] {
            let error = MessageHead::parse(text.as_bytes())
                .err()
                .unwrap_or_else(|| panic!("{text:.80} is a message"));
            let MessageError(given, code_of_error, message) = error;
            let answer = ids::error_answer(given, ErrorData::new(code_of_error, message, None));
            let given = (answer["id"].to_string(), code_of_error.0);
            assert_eq!(given, (id.to_owned(), code), "{text:.80}");
        }
    }

    #[test]
    fn messages_are_refused_by_their_revision() {
        let refused = |method: &str, version: Option<&'static str>| {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"uri":"x://y"}}}}"#);
            let head = MessageHead::parse(text.as_bytes()).unwrap_or_else(|wrong| panic!("{}", wrong.2));
            let headers =
                version.map(|version| ("mcp-protocol-version".parse().unwrap(), version.parse().unwrap()));
            let error = head.check_revision(&headers.into_iter().collect()).err();
            error.map(|error| (error.1.0, error.into_response().status().as_u16()))
        };
        let stateless = Some("2026-07-28");
        assert_eq!(refused("resources/subscribe", stateless), Some((-32601, 404)));
        assert_eq!(refused("resources/unsubscribe", stateless), Some((-32601, 404)));
        assert_eq!(refused("resources/read", stateless), None);
        assert_eq!(refused("resources/subscribe", Some("2025-11-25")), None);
        assert_eq!(refused("resources/subscribe", None), None);
        assert_eq!(refused("initialize", None), Some((-32602, 400)));
        assert_eq!(refused("initialize", Some("2025-11-25")), Some((-32602, 400)));
        assert_eq!(refused("initialize", stateless), None);
    }

    /// All that is refused here would be refused by rmcp; of the rest, rmcp refuses only malformed parameters.
    #[test]
    fn valid_messages_are_left_to_mcp() {
        for (text, code) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, None),
            (r#"{"jsonrpc":"2.0","id":"a","method":"x/unheard","params":{"n":[1]}}"#, None),
            (r#"{"jsonrpc":"2.0","method":"notifications/unheard_of"}"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"x":1}}"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}"#, None),
            (r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"x"}}"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":5}"#, Some(-32602)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, Some(-32602)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":5}}"#, Some(-32602)),
            (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#, Some(-32600)),
            (r#"{"jsonrpc":"2.0","id":1,"error":5}"#, Some(-32600)),
        ] {
            let head =
                MessageHead::parse(text.as_bytes()).unwrap_or_else(|wrong| panic!("{text}: {}", wrong.2));
            let read: Result<ClientJsonRpcMessage, _> = serde_json::from_str(text);
            let MessageError(id, ErrorCode(unread), _) = head.into_error();
            assert_eq!(read.is_err().then_some(unread), code, "{text}: {read:?}");
            assert_eq!(id.is_some(), unread == -32602, "{text}");
        }
    }
}
