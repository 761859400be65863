//! MCP over streamable HTTP, at `/mcp`.
//!
//! A request passes these layers, the outermost first (see `layers`):
//!
//! | layer | refuses with | file |
//! |---|---|---|
//! | connection limits and header timeout | a closed connection | `accept.rs`, `connection_table.rs`, `clock.rs` |
//! | oversized headers | 431 | `oversize.rs` |
//! | panic handler | 500 | |
//! | request id, and a span of the log | | `request_id.rs` |
//! | `Content-Length` | 413 | `message.rs` |
//! | host and origin (DNS rebinding) | 400, 403 | `host_check.rs` |
//! | CORS, if other origins are allowed | | |
//! | authentication | 401, 403, 503 | `auth_layer.rs`, `auth_failures.rs`, `../auth/` |
//! | rate limit per caller | 429 | `per_caller.rs`, `rates.rs` |
//! | profile of the path | 403, 404 | `profiles.rs` |
//! | body | 400, 408, 413 | `message.rs` |
//! | concurrency limit per caller | 429 | `per_caller.rs` |
//! | streams end when their token expires or is revoked | | `auth_layer.rs` |
//! | calls that end at once | | `direct_calls.rs` |
//! | MCP, with sessions for older clients | | `sessions/` |
//! | other paths | 404 | |
//!
//! Browsers that return from an authorization server (`redirects.rs`) pass the layers up to the host check, and a rate limit. So do
//! signed requests to hooks (`hooks.rs`). Server cards (`public_documents.rs`) pass the same, but pages of all origins may read them.
//!
//! **Invariant**: unauthenticated requests cost no more than parsing their headers: no body is read and no session is created. The
//! exception are hooks, if the operator has set a secret: a signature covers the body.

mod accept;
mod auth_failures;
mod auth_layer;
mod clock;
mod connection_table;
mod direct_calls;
mod guarded_body;
mod hooks;
mod host_check;
mod message;
mod oversize;
mod per_caller;
mod profiles;
mod public_documents;
mod rates;
mod redirects;
mod request_id;
mod sessions;
#[cfg(test)]
mod tests;
mod timeouts;

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use axum::{
    Router,
    body::HttpBody,
    extract::{Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::{from_fn, from_fn_with_state, map_response, map_response_with_state},
    response::{IntoResponse, Response},
};
use loggia_policy::settings::Http;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::SessionStore,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceBuilder};
use tower_http::{
    catch_panic::CatchPanicLayer,
    cors::{AllowHeaders, CorsLayer},
};

pub use self::{
    accept::{ConnectionConfig, accept},
    connection_table::ConnectionBounds,
    hooks::{HookAnswer, HookReceiver, HookRequest},
    profiles::ServedPaths,
    rates::{CallerDigest, CallerUsage, SharedRates, UsageExchange},
    redirects::{BrowserReturns, ReturnPage},
    timeouts::ConnectionTimeouts,
};
use crate::{
    auth::{Authenticator, ResourceMetadata},
    card::PublicDocument,
    endpoint::PATH,
    fleet::{FleetLink, FleetMember, SessionMessages, receive_mail},
    http::{
        auth_failures::AuthFailureLog, auth_layer::AuthState, host_check::HostAllowlist, message::BodyLimits,
        per_caller::CallerLimits, sessions::BoundedSessions,
    },
    mcp::McpHandler,
};

/// Time for the last events on open streams.
const LAST_EVENTS: Duration = Duration::from_millis(200);
/// Timeout of closing connections once their streams have ended.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Configuration of the HTTP server.
pub struct HttpServer {
    /// The MCP server.
    pub handler: McpHandler,
    /// What each path serves.
    pub paths: ServedPaths,
    /// The operator's settings.
    pub http: Http,
    /// `None` if access is unauthenticated.
    pub authenticator: Option<Authenticator>,
    /// Answers browsers that return from an authorization server; `None` if there are no logins.
    pub returns: Option<Arc<dyn BrowserReturns>>,
    /// Starts what programs of other services ask for; `None` if there are no hooks.
    pub hooks: Option<Arc<dyn HookReceiver>>,
    /// Server cards and their list; empty if there is no `[card]`.
    pub documents: Vec<PublicDocument>,
    /// The other hosts that share the database; `None` if there is none.
    pub fleet: Option<FleetMember>,
    /// Lets other servers count the requests of callers; `None` if there are no others.
    pub shared_rates: Option<SharedRates>,
    /// Cancelled at the shutdown signal. From then on each response closes its connection, so that few idle ones are left
    /// on which a proxy could send a request while the server closes them.
    pub leaving: CancellationToken,
    /// Time for running calls to finish after the shutdown signal.
    pub drain: Duration,
    /// Returns free memory to the kernel. Blocks.
    pub release_memory: fn(),
}

/// Serves clients until `stop` is cancelled, then drains their calls. `server.leaving` is cancelled by then.
///
/// # Errors
///
/// If connections cannot be accepted.
pub async fn serve(server: HttpServer, listener: TcpListener, stop: CancellationToken) -> io::Result<()> {
    let HttpServer {
        handler,
        paths,
        http,
        authenticator,
        returns,
        hooks,
        documents,
        fleet,
        shared_rates,
        leaving,
        drain,
        release_memory,
    } = server;
    let streams = CancellationToken::new();
    let (calls, gate) = (handler.calls(), handler.gate().clone());
    let names = HostAllowlist::new(listener.local_addr()?, &http.hosts, &http.origins);
    let meters = Arc::clone(gate.meters());
    let sealer = handler.sealer();
    Arc::clone(&sealer).prepare().await;
    let (handler, link, incoming) = match fleet {
        None => (handler, None, None),
        Some(FleetMember { mail, inbox, versions }) => {
            let link = Arc::new(FleetLink::new(mail));
            (handler.with_fleet(Arc::clone(&link)), Some(link), Some((inbox, versions)))
        }
    };
    let sessions = BoundedSessions::new(&http, handler.list_changes(), &meters.http, sealer);
    let sessions = Arc::new(sessions.with_fleet(link.clone()));
    if let (Some(link), Some((inbox, versions))) = (link, incoming) {
        let sessions: Arc<dyn SessionMessages> = Arc::new(Arc::clone(&sessions));
        tokio::spawn(receive_mail(link, inbox, handler.clone(), Some(sessions), versions, streams.clone()));
    }
    let service = mcp_service(handler.clone(), &http, Arc::clone(&sessions), streams.clone());
    let auth = Arc::new(AuthState {
        authenticator,
        meters: Arc::clone(&meters),
        failures: AuthFailureLog::default(),
    });
    let mcp = McpEndpoint { service, handler, paths: Arc::new(paths), sessions: Arc::clone(&sessions) };
    let limits = Arc::new(CallerLimits::new(http.per_caller, shared_rates.as_ref()));
    if let Some((rates, SharedRates { exchange, .. })) = limits.rates().zip(shared_rates) {
        tokio::spawn(rates::share(rates, exchange, stop.clone()));
    }
    let router = layers(mcp, &http, (names, limits), auth, OtherRoutes { returns, hooks, documents });
    let router = router.layer(map_response_with_state(leaving, close_if_leaving));
    let bounds = ConnectionConfig::from_settings(&http, Arc::clone(&meters.http.connections));
    let accepting = accept(listener, router, bounds, stop.clone());
    tokio::spawn(Arc::clone(&sessions).run(release_memory, streams.clone()));
    tokio::pin!(accepting);
    let draining = async {
        stop.cancelled().await;
        calls.close();
        // Runs whose requests have ended, and calls of disconnected clients, get the same drain time.
        let calls = async { drop(tokio::time::timeout(drain, calls.wait()).await) };
        tokio::join!(calls, gate.drain(drain));
        tokio::time::sleep(LAST_EVENTS).await;
    };
    tokio::pin!(draining);
    let mut accepted = None;
    loop {
        tokio::select! {
            biased;
            () = &mut draining => break,
            // All connections have closed, but calls may still run.
            ended = &mut accepting, if accepted.is_none() => {
                ended?;
                accepted = Some(());
            }
        }
    }
    // Open event streams would block the shutdown.
    streams.cancel();
    match accepted {
        Some(()) => Ok(()),
        None => tokio::time::timeout(CLOSE_TIMEOUT, accepting).await.unwrap_or(Ok(())),
    }
}

/// MCP behind the layers.
struct McpEndpoint<S> {
    service: S,
    handler: McpHandler,
    paths: Arc<ServedPaths>,
    sessions: Arc<BoundedSessions>,
}

/// Routes beside MCP, which need no token.
#[derive(Default)]
struct OtherRoutes {
    returns: Option<Arc<dyn BrowserReturns>>,
    hooks: Option<Arc<dyn HookReceiver>>,
    documents: Vec<PublicDocument>,
}

/// Builds the router: MCP behind the layers of the table above.
fn layers<S>(
    mcp: McpEndpoint<S>,
    http: &Http,
    (names, limits): (HostAllowlist, Arc<CallerLimits>),
    auth: Arc<AuthState>,
    others: OtherRoutes,
) -> Router
where
    S: Service<Request, Response: IntoResponse, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    let bounds = BodyLimits { size: http.body.bytes(), time: http.body_time.0 };
    let metadata =
        auth.authenticator.as_ref().and_then(Authenticator::metadata).map(ResourceMetadata::router);
    let cors = cors_layer(http);
    let authenticated = ServiceBuilder::new()
        .layer(from_fn_with_state(Arc::clone(&auth), auth_layer::authenticate))
        .layer(from_fn_with_state(Arc::clone(&limits), per_caller::limit_rate))
        .layer(from_fn_with_state(mcp.paths, profiles::select_profile))
        .layer(from_fn_with_state(bounds, message::read_body))
        .layer(from_fn_with_state(Arc::clone(&limits), per_caller::limit_concurrency))
        .layer(from_fn(auth_layer::end_expired_streams))
        .layer(from_fn_with_state(mcp.sessions, sessions::attach_session))
        .layer(map_response(set_content_type))
        .layer(from_fn_with_state(mcp.handler, direct_calls::answer_directly));
    let all = ServiceBuilder::new()
        .layer(CatchPanicLayer::custom(internal_error))
        .layer(from_fn(request_id::assign))
        .layer(from_fn_with_state(auth, auth_layer::count_response))
        // A second one within, so that the response is counted and has its id.
        .layer(CatchPanicLayer::custom(internal_error))
        .layer(from_fn_with_state(bounds, message::check_length));
    let names = Arc::new(names);
    let authenticated = Router::new().nest_service(PATH, mcp.service).layer(authenticated);
    let mut router = authenticated.merge(metadata.unwrap_or_default()).fallback(not_found);
    if let Some(cors) = cors {
        router = router.layer(cors);
    }
    // Beside the CORS layer: no page of another origin may read what a login returns.
    let returns = others.returns.map(|returns| redirects::router(returns, Arc::clone(&limits)));
    let hooks = others.hooks.map(|hooks| hooks::router(hooks, Arc::clone(&limits)));
    let router = router.merge(returns.unwrap_or_default()).merge(hooks.unwrap_or_default());
    let router = router.layer(from_fn_with_state(Arc::clone(&names), host_check::check_host));
    // Beside the check of origins and the CORS layer: everyone may read them.
    let documents = public_documents::router(others.documents, limits);
    let documents = documents.layer(from_fn_with_state(names, host_check::check_only_host));
    router.merge(documents).layer(all)
}

/// Points browsers and misconfigured clients to the endpoint.
async fn not_found() -> Response {
    let message = format!("not found: MCP clients connect to {PATH} by streamable HTTP\n");
    (StatusCode::NOT_FOUND, message).into_response()
}

/// Adds the content type that rmcp omits from its error texts.
async fn set_content_type(mut response: Response) -> Response {
    let status = response.status();
    if (status.is_client_error() || status.is_server_error()) && !response.body().is_end_stream() {
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().entry(header::CONTENT_TYPE).or_insert(plain);
    }
    response
}

/// Closes the connection after the response, once the server leaves.
async fn close_if_leaving(State(leaving): State<CancellationToken>, mut response: Response) -> Response {
    if leaving.is_cancelled() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Responds to a panic, which ends one request and not the server.
fn internal_error(_: Box<dyn std::any::Any + Send>) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, "internal server error; see the server's log").into_response()
}

/// Builds the CORS layer; `None` if no other origins are allowed.
fn cors_layer(http: &Http) -> Option<CorsLayer> {
    const MCP: [&str; 2] = ["mcp-session-id", "mcp-protocol-version"];
    if http.origins.is_empty() {
        return None;
    }
    let pages = http
        .origins
        .iter()
        .filter_map(|page| HeaderValue::from_str(&host_check::normalize_origin(page)).ok());
    let exposed =
        MCP.map(HeaderName::from_static).into_iter().chain([header::WWW_AUTHENTICATE, header::RETRY_AFTER]);
    let layer = CorsLayer::new()
        .allow_origin(pages.collect::<Vec<_>>())
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        // Parameters may have headers of their own (`Mcp-Param-*`), so there is no fixed list.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(exposed.collect::<Vec<_>>())
        .max_age(Duration::from_secs(60 * 60));
    Some(layer)
}

fn mcp_service(
    handler: McpHandler,
    http: &Http,
    sessions: Arc<BoundedSessions>,
    streams: CancellationToken,
) -> StreamableHttpService<McpHandler, BoundedSessions> {
    let mut config = StreamableHttpServerConfig::default()
        .with_cancellation_token(streams)
        // `host_check.rs` has already checked it.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(http.body.bytes())
        // Respond with plain JSON if nothing streams. rmcp 3.11 does so only without a session; `sessions/plain.rs` does the
        // same for the others.
        .with_json_response(true);
    // Where rmcp finds hibernated sessions.
    config.session_store = Some(Arc::clone(&sessions) as Arc<dyn SessionStore>);
    StreamableHttpService::new(move || Ok(handler.clone()), sessions, config)
}
