//! The pipeline with failures that no client can cause from outside.

use std::convert::Infallible;

use axum::{body::Body, extract::Request, response::Response};
use futures_util::{FutureExt, future::BoxFuture};
use loggia_gate::{
    access::CallOrigin,
    call::Gate,
    flow::GateMeters,
    schedule::{Executor, InlinePolicy},
    testing::lanes,
};
use loggia_policy::settings::PerCaller;
use tokio::sync::watch;
use tower::{ServiceExt, service_fn};

use super::*;
use crate::endpoint::{CALLBACK_PATH, PATH};

/// Answers every browser.
struct Welcome;

impl BrowserReturns for Welcome {
    fn answer(&self, query: String) -> BoxFuture<'static, ReturnPage> {
        async move { ReturnPage { is_known: true, html: query } }.boxed()
    }
}

/// The pipeline around a service that panics on request instead of MCP.
fn panicky() -> HttpService {
    let per_caller = PerCaller { concurrency: Some(1), ..PerCaller::default() };
    let http = Http { per_caller, origins: vec![PAGE.to_owned()], ..Http::default() };
    let meters = Arc::new(GateMeters::default());
    let (_, news) = watch::channel(());
    let sessions = Arc::new(BoundedSessions::new(&http, news, &meters.http, Arc::default()));
    let names = HostAllowlist::new(http.listen, &[], &http.origins);
    let mcp = service_fn(async |request: Request| {
        assert!(!request.headers().contains_key("panic"), "a secret");
        Ok::<_, Infallible>(Response::new(Body::from("fine")))
    });
    let mcp = McpService::new(mcp);
    let gate = Gate::new(Arc::default(), Executor::new(lanes(), InlinePolicy::Slots(1)));
    let handler = McpHandler::new(gate, CallOrigin::local(), CancellationToken::new());
    build_service(
        McpEndpoint { mcp, handler, paths: ServedPaths::default(), sessions },
        &http,
        (names, Arc::new(CallerLimits::new(http.per_caller, None))),
        AuthState { authenticator: None, meters, failures: AuthFailureLog::default() },
        OtherRoutes { returns: Some(Arc::new(Welcome)), ..OtherRoutes::default() },
        CancellationToken::new(),
    )
}

/// A page of another origin, which may call this server.
const PAGE: &str = "https://chat.example.com";

#[tokio::test]
async fn no_other_origin_reads_returns() {
    let service = panicky();
    for (path, host, status, is_readable) in [
        (PATH, "localhost", 200, true),
        (CALLBACK_PATH, "localhost", 200, false),
        (CALLBACK_PATH, "evil.example", 403, false),
    ] {
        let request = Request::get(path).header("host", host).header("origin", PAGE);
        let response = service.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let allowed = response.headers().contains_key("access-control-allow-origin");
        assert_eq!((response.status().as_u16(), allowed), (status, is_readable), "{path} {host}");
    }
}

/// Returns id, status and text of a response.
async fn post(service: HttpService, header: &str) -> (String, u16, String) {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let request = Request::post(PATH)
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header(header, "x")
        .body(Body::from(body))
        .unwrap();
    let response = service.oneshot(request).await.unwrap();
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let status = response.status().as_u16();
    let text = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (id, status, String::from_utf8(text.into()).unwrap())
}

#[tokio::test]
async fn a_panic_ends_only_its_request() {
    let service = panicky();
    // The second one would be refused if the first had kept the only permit.
    for (header, status, message) in [
        ("panic", 500, "internal server error; see the server's log"),
        ("panic", 500, "internal server error; see the server's log"),
        ("calm", 200, "fine"),
    ] {
        let (id, got, text) = post(service.clone(), header).await;
        assert_eq!((got, text.as_str()), (status, message), "{header}");
        assert_eq!(id.len(), 16, "{id}");
    }
}
