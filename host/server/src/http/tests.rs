//! The layers around failures that no client can cause from outside.

use std::convert::Infallible;

use axum::{body::Body, extract::Request, response::Response};
use loggia_gate::flow::GateMeters;
use loggia_policy::settings::PerCaller;
use tokio::sync::watch;
use tower::{ServiceExt, service_fn};

use super::*;

/// The router with a service that panics on request instead of MCP.
fn panicky() -> Router {
    let per_caller = PerCaller { concurrency: Some(1), ..PerCaller::default() };
    let http = Http { per_caller, ..Http::default() };
    let meters = Arc::new(GateMeters::default());
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

/// Returns id, status and text of a response.
async fn post(router: &Router, header: &str) -> (String, u16, String) {
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
    // The second one would be refused if the first had kept the only permit.
    for (header, status, message) in [
        ("panic", 500, "internal server error; see the server's log"),
        ("panic", 500, "internal server error; see the server's log"),
        ("calm", 200, "fine"),
    ] {
        let (id, got, text) = post(&router, header).await;
        assert_eq!((got, text.as_str()), (status, message), "{header}");
        assert_eq!(id.len(), 16, "{id}");
    }
}
