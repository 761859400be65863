//! The layers around what no client can make happen from outside.

use std::convert::Infallible;

use axum::{body::Body, extract::Request, response::Response};
use loggia_gate::flow::Meters;
use tokio::sync::watch;
use tower::{ServiceExt, service_fn};

use super::*;
use crate::config::server::PerCaller;

/// What is served, but for MCP itself, which panics where it is asked to.
fn panicky() -> Router {
    let per_caller = PerCaller { concurrency: Some(1), ..PerCaller::default() };
    let http = Http { per_caller, ..Http::default() };
    let meters = Arc::new(Meters::default());
    let (_, news) = watch::channel(());
    let sessions = Arc::new(BoundedSessions::new(&http, news, Arc::clone(&meters.http.sessions)));
    let names = HostAllowlist::new(http.listen, &[], &[]);
    let service = service_fn(async |request: Request| {
        assert!(!request.headers().contains_key("panic"), "a secret");
        Ok::<_, Infallible>(Response::new(Body::from("fine")))
    });
    layers(
        service,
        &http,
        names,
        sessions,
        Arc::new(AuthState { authenticator: None, meters, failures: AuthFailureLog::default() }),
    )
}

/// The id, the status and the text of an answer.
async fn told(router: &Router, header: &str) -> (String, u16, String) {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let request = Request::post(PATH)
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header(header, "x")
        .body(Body::from(body))
        .unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let status = response.status().as_u16();
    let text = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (id, status, String::from_utf8(text.into()).unwrap())
}

#[tokio::test]
async fn a_panic_ends_only_its_request() {
    let router = panicky();
    // A second one would be refused if the first had kept the only place.
    for (header, status, said) in [
        ("panic", 500, "the server made a mistake; its log says more"),
        ("panic", 500, "the server made a mistake; its log says more"),
        ("calm", 200, "fine"),
    ] {
        let (id, got, text) = told(&router, header).await;
        assert_eq!((got, text.as_str()), (status, said), "{header}");
        assert_eq!(id.len(), 16, "{id}");
    }
}
