//! A request's body: read whole, within its size and time, and refused where it is no message, or gives a name twice in one
//! object: what that means is anybody's guess.
//!
//! rmcp calls the type of a body unsupported (415) that it cannot read. Here it is answered as the protocol has it, and as on
//! stdio.

use std::{borrow::Cow, error::Error, time::Duration};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{
        HeaderMap, Method, StatusCode,
        header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use http_body_util::LengthLimitError;
use loggia_facade::json::has_many_values;
use rmcp::{ErrorData, model::ErrorCode};
use serde::Deserialize;
use serde_json::Value;

use crate::serve::{
    duplicates, ids,
    ids::{given, present},
    lines::{BATCH, INVALID, many, twice},
};

/// The largest `initialize`: what a client says there is kept for as long as its session lasts.
const GREETING: usize = 64 << 10;

/// What a message asks for, as far as it matters before MCP reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// An answer.
    Answer,
    /// News, for as long as its client listens.
    News,
    /// Nothing: it is an answer itself, or a notification.
    Nothing,
}

impl Asks {
    fn of(head: &Head<'_>) -> Self {
        match (head.method.as_deref(), head.id.is_some()) {
            (Some("subscriptions/listen"), true) => Self::News,
            (Some(_), true) => Self::Answer,
            _ => Self::Nothing,
        }
    }
}

/// What stands outermost in a message.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "given")]
    id: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    result: bool,
    #[serde(default, deserialize_with = "present")]
    error: bool,
}

impl<'a> Head<'a> {
    /// Of text that may be anything.
    fn of(text: &'a [u8]) -> Result<Self, Wrong> {
        if has_many_values(text) {
            return Err(Wrong(ids::find(text), ErrorCode::INVALID_REQUEST, many().into()));
        }
        match duplicates::search(text) {
            Ok(None) => {}
            // Of two ids, neither is the request's.
            Ok(Some(name)) => {
                let id = ids::find(text).filter(|_| name != "id");
                return Err(Wrong(id, ErrorCode::INVALID_REQUEST, twice(&name).into()));
            }
            Err(error) => {
                let said = format!("Parse error: {error}");
                return Err(Wrong(ids::find(text), ErrorCode::PARSE_ERROR, said.into()));
            }
        }
        if text.trim_ascii_start().starts_with(b"[") {
            return Err(Wrong(None, ErrorCode::INVALID_REQUEST, BATCH.into()));
        }
        let head: Self = serde_json::from_slice(text).map_err(|_| Wrong::request(ids::find(text)))?;
        // It asks, or it answers.
        if head.jsonrpc.as_deref() != Some("2.0") || head.method.is_some() == (head.result || head.error) {
            // The ids of answers are ours.
            return Err(Wrong::request(head.id.filter(|_| !head.result && !head.error)));
        }
        match &head.id {
            // rmcp would take it for a notification, which nobody answers.
            Some(id) if head.method.is_some() && !ids::is_usable(id) => {
                Err(Wrong(head.id, ErrorCode::INVALID_REQUEST, ids::UNUSABLE.into()))
            }
            _ => Ok(head),
        }
    }

    /// What is wrong with it where MCP cannot read it all the same: of a request, only its parameters can be.
    fn unread(self) -> Wrong {
        match self.id.filter(|_| self.method.is_some()) {
            None => Wrong::request(None),
            id => {
                let said = "Invalid params: they are no object, or their `_meta` is none";
                Wrong(id, ErrorCode::INVALID_PARAMS, said.into())
            }
        }
    }
}

/// What a client is told that sent no message, and of which request.
struct Wrong(Option<Value>, ErrorCode, Cow<'static, str>);

impl Wrong {
    fn request(id: Option<Value>) -> Self {
        Self(id, ErrorCode::INVALID_REQUEST, INVALID.into())
    }
}

impl IntoResponse for Wrong {
    fn into_response(self) -> Response {
        let Self(id, code, message) = self;
        let body = ids::error_answer(id, ErrorData::new(code, message, None));
        let json = [(CONTENT_TYPE, "application/json")];
        (StatusCode::BAD_REQUEST, json, body.to_string()).into_response()
    }
}

/// What a body may be.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes.
    pub size: usize,
    /// How long it may take to come.
    pub time: Duration,
}

/// Refuses a body that says it is too large, before anything else is looked at. What it says is held to: hyper reads no more.
pub async fn announced(State(bounds): State<Bounds>, request: Request, next: Next) -> Response {
    let length = request.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    match length.is_some_and(|length| length > bounds.size as u64) {
        true => too_large(bounds),
        false => next.run(request).await,
    }
}

/// Reads the body of a message.
pub async fn read(State(bounds): State<Bounds>, request: Request, next: Next) -> Response {
    // MCP takes nothing else, and says so.
    if request.method() != Method::POST || !is_json(request.headers()) {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    let bytes = match tokio::time::timeout(bounds.time, to_bytes(body, bounds.size)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) if error.source().is_some_and(|error| error.is::<LengthLimitError>()) => {
            return too_large(bounds);
        }
        Ok(Err(_)) => {
            return (StatusCode::BAD_REQUEST, "the message is cut off, or its chunks are malformed")
                .into_response();
        }
        Err(_) => {
            let said = format!("the message took longer than {} s to come", bounds.time.as_secs());
            return (StatusCode::REQUEST_TIMEOUT, [(CONNECTION, "close")], said).into_response();
        }
    };
    let head = match Head::of(&bytes) {
        Ok(head) => head,
        Err(wrong) => return wrong.into_response(),
    };
    if head.method.as_deref() == Some("initialize") && bytes.len() > GREETING {
        let said = format!("an `initialize` may have {} KiB at most", GREETING >> 10);
        return (StatusCode::PAYLOAD_TOO_LARGE, said).into_response();
    }
    parts.extensions.insert(Asks::of(&head));
    let unread = head.unread();
    let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
    // Its type was right, so it is the message that rmcp cannot read.
    match response.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => unread.into_response(),
        _ => response,
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let said = headers.get(CONTENT_TYPE).and_then(|said| said.to_str().ok()).unwrap_or_default();
    said.split(';').next().is_some_and(|said| said.trim().eq_ignore_ascii_case("application/json"))
}

fn too_large(bounds: Bounds) -> Response {
    let most = loggia_text::units::format_bytes(bounds.size as u64);
    let said = format!("the message is larger than {most}; the operator can change that by `http.body`");
    (StatusCode::PAYLOAD_TOO_LARGE, said).into_response()
}

#[cfg(test)]
mod tests {
    use rmcp::model::ClientJsonRpcMessage;

    use super::*;

    /// H54, over HTTP.
    #[test]
    fn what_is_no_message_is_refused_and_its_request_is_named() {
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
            let wrong = Head::of(text.as_bytes()).err().unwrap_or_else(|| panic!("{text:.80} is a message"));
            let Wrong(given, told, said) = wrong;
            let answer = ids::error_answer(given, ErrorData::new(told, said, None));
            let told = (answer["id"].to_string(), told.0);
            assert_eq!(told, (id.to_owned(), code), "{text:.80}");
        }
    }

    /// What is refused here would be by rmcp; what rmcp refuses beside that has wrong parameters.
    #[test]
    fn what_is_a_message_is_left_to_mcp() {
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
            let head = Head::of(text.as_bytes()).unwrap_or_else(|wrong| panic!("{text}: {}", wrong.2));
            let read: Result<ClientJsonRpcMessage, _> = serde_json::from_str(text);
            let Wrong(id, ErrorCode(unread), _) = head.unread();
            assert_eq!(read.is_err().then_some(unread), code, "{text}: {read:?}");
            assert_eq!(id.is_some(), unread == -32602, "{text}");
        }
    }
}
