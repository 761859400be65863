//! The pipeline without a socket: failures that no client can cause from outside, and which calls rmcp gets.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::atomic::{AtomicUsize, Ordering},
};

use axum::{body::Body, extract::Request, response::Response};
use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{Call, Failure, Reply};
use loggia_gate::{
    access::CallOrigin,
    call::Gate,
    catalog::{Catalog, CatalogSlot},
    flow::GateMeters,
    schedule::{Executor, InlinePolicy},
    testing::{broken_entry, entry, lanes, puppet},
};
use loggia_policy::{model::FacadeRules, settings::PerCaller};
use serde_json::{Value, json};
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
    let mcp = service_fn(async |request: Request| {
        assert!(!request.headers().contains_key("panic"), "a secret");
        Ok::<_, Infallible>(Response::new(Body::from("fine")))
    });
    let mcp = McpService::new(mcp);
    let gate = Gate::new(Arc::default(), Executor::new(lanes(), InlinePolicy::Slots(1)));
    let handler = McpHandler::new(gate, CallOrigin::local(), CancellationToken::new());
    let sessions = Arc::new(sessions(&http));
    build(McpEndpoint { mcp, handler, paths: ServedPaths::default(), sessions }, &http)
}

fn sessions(http: &Http) -> BoundedSessions {
    let (_, changes) = watch::channel(());
    BoundedSessions::new(http, changes, &GateMeters::default().http, Arc::default())
}

fn build(endpoint: McpEndpoint, http: &Http) -> HttpService {
    let names = HostAllowlist::new(http.listen, &[], &http.origins);
    let meters = Arc::new(GateMeters::default());
    build_service(
        endpoint,
        http,
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

/// The pipeline around rmcp, which counts the requests that rmcp gets.
fn counting(gate: Gate) -> (HttpService, Arc<AtomicUsize>) {
    let (http, passed) = (Http::default(), Arc::new(AtomicUsize::new(0)));
    let handler = McpHandler::new(gate, CallOrigin::local(), CancellationToken::new());
    let sessions = Arc::new(sessions(&http));
    let mcp = mcp_service(handler.clone(), &http, Arc::clone(&sessions), CancellationToken::new());
    let count = Arc::clone(&passed);
    let mcp = McpService::new(mcp.map_request(move |request: Request| {
        count.fetch_add(1, Ordering::Relaxed);
        request
    }));
    (build(McpEndpoint { mcp, handler, paths: ServedPaths::default(), sessions }, &http), passed)
}

/// Sends a message; returns status, type and text of the response, and the session that it begins.
async fn exchange(service: &HttpService, headers: &[(&str, &str)], message: &Value) -> (String, String) {
    let mut request =
        Request::post(PATH).header("host", "localhost").header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(message.to_string())).unwrap();
    let response = service.clone().oneshot(request).await.unwrap();
    let header = |name: &str| {
        response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    };
    let (session, head) =
        (header("mcp-session-id"), format!("{} {}", response.status(), header("content-type")));
    let text = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (session, format!("{head}\n{}", String::from_utf8(text.into()).unwrap()))
}

/// What a client accepts whose calls begin where they are read.
const DIRECT: &str = "application/json, text/event-stream";
/// With weights, rmcp gets the request.
const WEIGHTED: &str = "application/json;q=0.9, text/event-stream";

/// Begins a session; returns its id.
async fn begin_session(service: &HttpService) -> String {
    let client = json!({"name": "test", "version": "0"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let (session, text) = exchange(service, &[("accept", DIRECT)], &initialize).await;
    assert!(!session.is_empty(), "{text}");
    let headers = [("mcp-session-id", &*session), ("mcp-protocol-version", "2025-11-25"), ("accept", DIRECT)];
    exchange(service, &headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    session
}

/// Metadata of requests without a session.
fn stateless_meta() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"}})
}

#[tokio::test]
async fn a_panic_in_a_service_is_an_error() {
    let catalog = Arc::new(Catalog::default());
    let slot = CatalogSlot::Serving(Arc::new(broken_entry("broken")));
    catalog.swap(BTreeMap::from([("broken".to_owned(), slot)]));
    catalog.mark_admitted();
    let gate = Gate::new(catalog, Executor::new(lanes(), InlinePolicy::Slots(0)));
    let (service, _) = counting(gate.clone());
    let session = begin_session(&service).await;
    let of_session = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let stateless =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "broken")];
    for accept in [DIRECT, WEIGHTED] {
        for (headers, meta) in [(&of_session[..], None), (&stateless[..], Some(stateless_meta()))] {
            let mut params = json!({"name": "broken", "arguments": {"action": "look"}});
            if let Some(meta) = meta {
                params["_meta"] = meta;
            }
            let call = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params});
            let headers = [headers, &[("accept", accept)]].concat();
            let (_, response) = exchange(&service, &headers, &call).await;
            let message = "\"internal server error; see the server's log\"";
            assert!(response.contains(message), "{headers:?} {response}");
        }
    }
    let counted = &gate.meters().tool_calls.load()["broken"];
    let counted = counted.by_error().map(|(error, took)| (error, took.totals().1.iter().sum()));
    assert_eq!(counted.collect::<Vec<(&str, u64)>>(), [("-32603", 4)]);
}

#[tokio::test]
async fn direct_responses_are_those_of_rmcp() {
    let works = puppet("notes", async |call: Call| match call.params.get("fails") {
        None => Ok(Reply::data(json!({"text": "a \"quoted\" text"}))),
        Some(_) => Err(Failure::new("gone", "it is gone").into()),
    });
    let catalog = Arc::new(Catalog::default());
    let slot = CatalogSlot::Serving(Arc::new(entry(works, FacadeRules::default())));
    catalog.swap(BTreeMap::from([("notes".to_owned(), slot)]));
    catalog.mark_admitted();
    let (service, passed) =
        counting(Gate::new(Arc::clone(&catalog), Executor::new(lanes(), InlinePolicy::Slots(4))));

    let session = begin_session(&service).await;
    let of_session = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let stateless =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "notes")];
    let meta = stateless_meta();

    for notice in [None, Some("the newest source of `notes` does not build")] {
        let notices = notice.map(|notice| ("notes".to_owned(), notice.to_owned()));
        catalog.notices.set_builds(notices.into_iter().collect());
        for arguments in [
            json!({"action": "look"}),
            json!({"action": "look", "fails": true}),
            json!({"action": "lok"}),
            json!({"action": 5}),
            json!({}),
        ] {
            for (headers, meta) in [(&of_session[..], None), (&stateless[..], Some(&meta))] {
                let mut params = json!({"name": "notes", "arguments": arguments});
                if let Some(meta) = meta {
                    params["_meta"] = meta.clone();
                }
                let call = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params});
                let mut responses = Vec::new();
                for (accept, by_rmcp) in [(DIRECT, 0), (WEIGHTED, 1)] {
                    let before = passed.load(Ordering::Relaxed);
                    let headers = [headers, &[("accept", accept)]].concat();
                    responses.push(exchange(&service, &headers, &call).await.1);
                    assert_eq!(passed.load(Ordering::Relaxed) - before, by_rmcp, "{accept}: {call}");
                }
                assert_eq!(responses[0], responses[1], "{call}");
                assert!(notice.is_none_or(|notice| responses[0].contains(notice)), "{}", responses[0]);
            }
        }
    }
}
