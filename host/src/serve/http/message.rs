//! A request's body: read whole, within its size and time, and refused where it gives a name twice in one object: what it
//! means is anybody's guess.

use std::{borrow::Cow, time::Duration};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{
        Method, StatusCode,
        header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, de::IgnoredAny};

use crate::serve::{duplicates, lines::twice};

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

/// What stands outermost in a message. What is no message is MCP's to refuse.
#[derive(Default, Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    id: Option<IgnoredAny>,
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
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    let bytes = match tokio::time::timeout(bounds.time, to_bytes(body, bounds.size)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => return too_large(bounds),
        Err(_) => {
            let said = format!("the message took longer than {} s to come", bounds.time.as_secs());
            return (StatusCode::REQUEST_TIMEOUT, [(CONNECTION, "close")], said).into_response();
        }
    };
    if let Some(name) = duplicates::find(&bytes) {
        let error = serde_json::json!({ "code": -32600, "message": twice(&name) });
        let body = serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error });
        let json = [(CONTENT_TYPE, "application/json")];
        return (StatusCode::BAD_REQUEST, json, body.to_string()).into_response();
    }
    let head: Head<'_> = serde_json::from_slice(&bytes).unwrap_or_default();
    if head.method.as_deref() == Some("initialize") && bytes.len() > GREETING {
        let said = format!("an `initialize` may have {} KiB at most", GREETING >> 10);
        return (StatusCode::PAYLOAD_TOO_LARGE, said).into_response();
    }
    parts.extensions.insert(Asks::of(&head));
    drop(head);
    next.run(Request::from_parts(parts, Body::from(bytes))).await
}

fn too_large(bounds: Bounds) -> Response {
    let most = crate::config::units::bytes_text(bounds.size as u64);
    let said =
        format!("the message is cut off, or larger than {most}; the operator can change that by `http.body`");
    (StatusCode::PAYLOAD_TOO_LARGE, said).into_response()
}
