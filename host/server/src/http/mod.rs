//! MCP over streamable HTTP, at `/mcp`.
//!
//! A request passes these steps (see `pipeline.rs`):
//!
//! | step | refuses with | file |
//! |---|---|---|
//! | connection limits and header timeout | a closed connection | `accept.rs`, `connection_table.rs`, `clock.rs` |
//! | oversized headers | 431 | `oversize.rs` |
//! | request id, and a span of the log | | `request_id.rs` |
//! | panic handler | 500 | `pipeline.rs` |
//! | `Content-Length` | 413 | `message.rs` |
//! | other paths | 404 | |
//! | host and origin (DNS rebinding) | 400, 403 | `host_check.rs` |
//! | CORS, if other origins are allowed | | |
//! | authentication | 401, 403, 503 | `authentication.rs`, `auth_failures.rs`, `../auth/` |
//! | rate limit per caller | 429 | `per_caller.rs`, `rates.rs` |
//! | profile of the path | 403, 404 | `profiles.rs` |
//! | body | 400, 408, 413 | `message.rs` |
//! | concurrency limit per caller | 429 | `per_caller.rs` |
//! | streams end when their token expires or is revoked | | `authentication.rs` |
//! | sessions of older clients | 404 | `sessions/` |
//! | calls that end at once | | `direct_calls.rs` |
//! | MCP | | rmcp |
//!
//! Browsers that return from an authorization server (`redirects.rs`) pass the steps up to the host check, and a rate limit. So do
//! signed requests to hooks (`hooks.rs`). Server cards (`public_documents.rs`) pass the same, but pages of all origins may read them.
//!
//! **Invariant**: unauthenticated requests cost no more than parsing their headers: no body is read and no session is created. The
//! exception are hooks, if the operator has set a secret: a signature covers the body.

mod accept;
mod auth_failures;
mod authentication;
mod clock;
mod connection_table;
mod direct_calls;
mod guarded_body;
mod hooks;
mod host_check;
mod message;
mod oversize;
mod per_caller;
mod pipeline;
mod profiles;
mod public_documents;
mod rates;
mod redirects;
mod request_id;
mod sessions;
#[cfg(test)]
mod tests;
mod timeouts;

use std::{io, sync::Arc, time::Duration};

use axum::{
    Router,
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
};
use loggia_policy::settings::Http;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::SessionStore,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::util::MapResponse;
use tower_http::cors::{AllowHeaders, CorsLayer};

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
        auth_failures::AuthFailureLog,
        authentication::AuthState,
        host_check::HostAllowlist,
        message::BodyLimits,
        per_caller::CallerLimits,
        pipeline::{HttpPipeline, HttpService, McpService},
        sessions::BoundedSessions,
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
    let draining = handler.clone();
    let names = HostAllowlist::new(listener.local_addr()?, &http.hosts, &http.origins);
    let meters = Arc::clone(handler.gate().meters());
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
    let mcp = mcp_service(handler.clone(), &http, Arc::clone(&sessions), streams.clone());
    let auth = AuthState { authenticator, meters: Arc::clone(&meters), failures: AuthFailureLog::default() };
    let limits = Arc::new(CallerLimits::new(http.per_caller, shared_rates.as_ref()));
    if let Some((rates, SharedRates { exchange, .. })) = limits.rates().zip(shared_rates) {
        tokio::spawn(rates::share(rates, exchange, stop.clone()));
    }
    let others = OtherRoutes { returns, hooks, documents };
    let mcp = McpEndpoint { mcp, handler, paths, sessions: Arc::clone(&sessions) };
    let service = build_service(mcp, &http, (names, limits), auth, others, leaving);
    let bounds = ConnectionConfig::from_settings(&http, Arc::clone(&meters.http.connections));
    let accepting = accept(listener, service, bounds, stop.clone());
    tokio::spawn(Arc::clone(&sessions).run(release_memory, streams.clone()));
    tokio::pin!(accepting);
    let draining = async {
        stop.cancelled().await;
        draining.drain(drain).await;
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

/// MCP, as the pipeline needs it.
struct McpEndpoint {
    mcp: McpService,
    handler: McpHandler,
    paths: ServedPaths,
    sessions: Arc<BoundedSessions>,
}

/// Routes beside MCP, which need no token.
#[derive(Default)]
struct OtherRoutes {
    returns: Option<Arc<dyn BrowserReturns>>,
    hooks: Option<Arc<dyn HookReceiver>>,
    documents: Vec<PublicDocument>,
}

/// Builds the service of all paths.
fn build_service(
    McpEndpoint { mcp, handler, paths, sessions }: McpEndpoint,
    http: &Http,
    (names, limits): (HostAllowlist, Arc<CallerLimits>),
    auth: AuthState,
    others: OtherRoutes,
    leaving: CancellationToken,
) -> HttpService {
    let (names, cors) = (Arc::new(names), cors_layer(http));
    let documents = others.documents.iter().map(|document| document.path.clone()).collect();
    let metadata =
        auth.authenticator.as_ref().and_then(Authenticator::metadata).map(ResourceMetadata::router);
    let others = others.into_router(metadata.unwrap_or_default(), cors.clone(), &names, &limits);
    let bodies = BodyLimits { size: http.body.bytes(), time: http.body_time.0 };
    HttpService::new(HttpPipeline {
        mcp,
        handler,
        paths,
        sessions,
        limits,
        bodies,
        names,
        auth,
        cors,
        documents,
        others,
        leaving,
    })
}

impl OtherRoutes {
    /// Builds the router of all paths but MCP's. `metadata` are routes that pages of allowed origins may read.
    fn into_router(
        self,
        metadata: Router,
        cors: Option<CorsLayer>,
        names: &Arc<HostAllowlist>,
        limits: &Arc<CallerLimits>,
    ) -> Router {
        let mut router = metadata.fallback(not_found);
        if let Some(cors) = cors {
            router = router.layer(cors);
        }
        // Beside the CORS layer: no page of another origin may read what a login returns.
        let returns = self.returns.map(|returns| redirects::router(returns, Arc::clone(limits)));
        let hooks = self.hooks.map(|hooks| hooks::router(hooks, Arc::clone(limits)));
        let router = router.merge(returns.unwrap_or_default()).merge(hooks.unwrap_or_default());
        let router = router.layer(from_fn_with_state(Arc::clone(names), host_check::check_host));
        // Beside the check of origins and the CORS layer: everyone may read them.
        let documents = public_documents::router(self.documents, Arc::clone(limits));
        router.merge(documents.layer(from_fn_with_state(Arc::clone(names), host_check::check_only_host)))
    }
}

/// Points browsers and misconfigured clients to the endpoint.
async fn not_found() -> Response {
    let message = format!("not found: MCP clients connect to {PATH} by streamable HTTP\n");
    (StatusCode::NOT_FOUND, message).into_response()
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
) -> McpService {
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
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    McpService::new(MapResponse::new(service, IntoResponse::into_response))
}
