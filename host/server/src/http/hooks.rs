//! `/hooks/FACADE/ACTION`: programs of other services start workflows.
//!
//! The route needs no token: each request is signed with a secret of the operator. The host knows the hooks and their secrets. A
//! body is read only if the headers of a signature are there, and only up to [`MAX_BODY`]. Requests count as those of
//! unauthenticated callers.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Bytes, to_bytes},
    extract::{Path, Request, State},
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::post,
};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::per_caller::{self, CallerLimits};
use crate::endpoint::HOOKS_PATH;

/// Maximum size of a posted body, in bytes.
const MAX_BODY: usize = 256 << 10;
/// Timeout for a body.
const BODY_TIME: Duration = Duration::from_secs(10);

/// Starts what a program of another service asks for.
pub trait HookReceiver: Send + Sync + 'static {
    /// Whether the headers have a signature that could be valid. Checked before the body is read.
    fn is_signed(&self, headers: &HeaderMap) -> bool;
    /// Answers a request.
    fn receive(&self, request: HookRequest) -> BoxFuture<'static, HookAnswer>;
}

/// A request to a hook.
#[derive(Debug)]
pub struct HookRequest {
    /// Facade of the path.
    pub facade: String,
    /// Action of the path.
    pub action: String,
    /// Headers, with the signature.
    pub headers: HeaderMap,
    /// Body, as it was signed.
    pub body: Bytes,
}

/// Answer to a request to a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookAnswer {
    /// A run with this handle has started, now or by an earlier delivery of the same message.
    Started(String),
    /// There is no such hook, or the signature is wrong: the sender does not learn which.
    Refused,
    /// The body does not fit; the reason is for the sender.
    Invalid(String),
    /// The sender should try again later.
    Unavailable,
}

impl IntoResponse for HookAnswer {
    fn into_response(self) -> Response {
        let answer = |status: StatusCode, body: Value| {
            (status, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
        };
        let refuse = |status: StatusCode, error: String| answer(status, json!({"error": error}));
        match self {
            Self::Started(run) => answer(StatusCode::ACCEPTED, json!({"run": run})),
            Self::Refused => refuse(
                StatusCode::UNAUTHORIZED,
                "there is no such hook, or the signature is wrong".to_owned(),
            ),
            Self::Invalid(reason) => refuse(StatusCode::BAD_REQUEST, reason),
            Self::Unavailable => refuse(StatusCode::SERVICE_UNAVAILABLE, "try again later".to_owned()),
        }
    }
}

/// Builds the route.
pub(super) fn router(hooks: Arc<dyn HookReceiver>, limits: Arc<CallerLimits>) -> Router {
    Router::new()
        .route(&format!("{HOOKS_PATH}/{{facade}}/{{action}}"), post(receive))
        .with_state(hooks)
        .layer(from_fn_with_state(limits, per_caller::limit_unauthenticated))
}

async fn receive(
    State(hooks): State<Arc<dyn HookReceiver>>,
    Path((facade, action)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if !hooks.is_signed(&parts.headers) {
        return HookAnswer::Refused.into_response();
    }
    let body = match tokio::time::timeout(BODY_TIME, to_bytes(body, MAX_BODY)).await {
        Err(_) => return (StatusCode::REQUEST_TIMEOUT, "the body is too slow\n").into_response(),
        Ok(Err(_)) => {
            let message = format!("the body cannot be read, or has more than {} KiB\n", MAX_BODY >> 10);
            return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
        }
        Ok(Ok(body)) => body,
    };
    hooks.receive(HookRequest { facade, action, headers: parts.headers, body }).await.into_response()
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::Method};
    use futures_util::FutureExt;
    use loggia_policy::settings::PerCaller;
    use tower::ServiceExt;

    use super::*;

    /// Answers by the action, and takes a header `signed` for a signature.
    struct Puppet;

    impl HookReceiver for Puppet {
        fn is_signed(&self, headers: &HeaderMap) -> bool {
            headers.contains_key("signed")
        }

        fn receive(&self, request: HookRequest) -> BoxFuture<'static, HookAnswer> {
            async move {
                match request.action.as_str() {
                    "start" => HookAnswer::Started(format!("run_{}", request.body.len())),
                    "bad" => HookAnswer::Invalid("`x` is required".into()),
                    "busy" => HookAnswer::Unavailable,
                    _ => HookAnswer::Refused,
                }
            }
            .boxed()
        }
    }

    async fn send(method: Method, path: &str, signed: bool, bytes: usize) -> (u16, String) {
        let router = router(Arc::new(Puppet), Arc::new(CallerLimits::new(PerCaller::default(), None)));
        let mut request = Request::builder().method(method).uri(format!("/hooks/{path}"));
        if signed {
            request = request.header("signed", "yes");
        }
        let response = router.oneshot(request.body(Body::from("x".repeat(bytes))).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        (status, String::from_utf8(to_bytes(response.into_body(), 1 << 20).await.unwrap().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn answers_tell_the_sender_what_to_do() {
        for (path, signed, bytes, status, text) in [
            ("a/start", true, 3, 202, r#"{"run":"run_3"}"#),
            ("a/start", false, 3, 401, "there is no such hook, or the signature is wrong"),
            ("a/other", true, 3, 401, "there is no such hook, or the signature is wrong"),
            ("a/bad", true, 3, 400, "`x` is required"),
            ("a/busy", true, 3, 503, "try again later"),
            ("a/start", true, MAX_BODY + 1, 413, "more than 256 KiB"),
        ] {
            let (got, body) = send(Method::POST, path, signed, bytes).await;
            assert_eq!(got, status, "{path}: {body}");
            assert!(body.contains(text), "{path}: {body}");
        }
        assert_eq!(send(Method::GET, "a/start", true, 0).await.0, 405);
        assert_eq!(send(Method::POST, "a", true, 0).await.0, 404);
    }
}
