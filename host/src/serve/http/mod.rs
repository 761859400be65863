//! Many clients over streamable HTTP, at `/mcp`.
//!
//! A request goes through these layers, the first of which is the outermost; `layers` puts them so:
//!
//! | layer | refuses with | file |
//! |---|---|---|
//! | connections, and the time for a head | a closed connection | `accept.rs`, `connection_table.rs`, `clock.rs` |
//! | a head that is too large | 431 | `oversize.rs` |
//! | panics are caught | 500 | |
//! | its id, and a span of the log | | `request_id.rs` |
//! | a body that says it is too large | 413 | `message.rs` |
//! | host and origin | 400, 403 | `host_check.rs` |
//! | CORS, where pages of others may call | | |
//! | who calls | 401, 403, 503 | `auth_layer.rs`, `auth_failures.rs`, `../auth/` |
//! | how often one caller may ask | 429 | `per_caller.rs` |
//! | the body itself | 400, 408, 413 | `message.rs` |
//! | how much of it at once | 429 | `per_caller.rs` |
//! | streams end with the token that opened them | | `auth_layer.rs` |
//! | MCP, in sessions for older clients | | `sessions/` |
//! | whatever is not there | 404 | |
//!
//! **Invariant**: who is not known to be somebody causes no work beyond the reading of a head.

pub(super) mod accept;
mod auth_failures;
mod auth_layer;
mod clock;
pub(super) mod connection_table;
mod guarded_body;
mod host_check;
mod message;
mod oversize;
mod per_caller;
mod request_id;
mod sessions;
#[cfg(test)]
mod tests;
pub(super) mod timeouts;

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use axum::{
    Router,
    body::HttpBody,
    extract::Request,
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::{from_fn, from_fn_with_state, map_response},
    response::{IntoResponse, Response},
};
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

use self::{
    accept::{ConnectionConfig, accept},
    auth_failures::AuthFailureLog,
    auth_layer::AuthState,
    host_check::HostAllowlist,
    message::BodyLimits,
    per_caller::CallerLimits,
    sessions::BoundedSessions,
};
use super::auth::{Authenticator, ResourceMetadata};
use crate::{config::server::Http, mcp::McpHandler, serve::endpoint::PATH};

/// How long the last words on open streams may take.
const LAST_EVENTS: Duration = Duration::from_millis(200);
/// How long connections may take to close once their streams have ended.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// What is served, and how.
pub struct HttpServer {
    /// Answers.
    pub handler: McpHandler,
    /// The operator's settings.
    pub http: Http,
    /// Says who calls; none where callers need not.
    pub authenticator: Option<Authenticator>,
    /// How long calls that run may go on after the host was told to end.
    pub drain: Duration,
}

/// Serves clients until told to stop, and then until their calls have ended, but not for long.
///
/// # Errors
///
/// If connections cannot be accepted.
pub async fn serve(serving: HttpServer, listener: TcpListener, stop: CancellationToken) -> io::Result<()> {
    let HttpServer { handler, http, authenticator, drain } = serving;
    let streams = CancellationToken::new();
    let (calls, gate) = (handler.calls(), handler.gate().clone());
    let names = HostAllowlist::new(listener.local_addr()?, &http.hosts, &http.origins);
    let meters = Arc::clone(gate.meters());
    let sessions =
        Arc::new(BoundedSessions::new(&http, handler.list_changes(), Arc::clone(&meters.http.sessions)));
    let service = mcp_service(handler, &http, Arc::clone(&sessions), streams.clone());
    let door = Arc::new(AuthState {
        authenticator,
        meters: Arc::clone(&meters),
        failures: AuthFailureLog::default(),
    });
    let router = layers(service, &http, names, Arc::clone(&sessions), door);
    let bounds = ConnectionConfig::from_settings(&http, Arc::clone(&meters.http.connections));
    let accepting = accept(listener, router, bounds, stop.clone());
    tokio::spawn(Arc::clone(&sessions).run(streams.clone()));
    tokio::pin!(accepting);
    let draining = async {
        stop.cancelled().await;
        calls.close();
        // Runs whose requests have ended get the same time, and so do calls whose clients are gone.
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
            // All connections have closed; calls may still run.
            ended = &mut accepting, if accepted.is_none() => {
                ended?;
                accepted = Some(());
            }
        }
    }
    // Open event streams would keep the server from ending.
    streams.cancel();
    match accepted {
        Some(()) => Ok(()),
        None => tokio::time::timeout(CLOSE_TIMEOUT, accepting).await.unwrap_or(Ok(())),
    }
}

/// The protocol behind all that a request must pass before.
fn layers<S>(
    service: S,
    http: &Http,
    names: HostAllowlist,
    sessions: Arc<BoundedSessions>,
    door: Arc<AuthState>,
) -> Router
where
    S: Service<Request, Response: IntoResponse, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    let bounds = BodyLimits { size: http.body.bytes(), time: http.body_time.0 };
    let accounts = Arc::new(CallerLimits::new(http.per_caller));
    let metadata =
        door.authenticator.as_ref().and_then(Authenticator::metadata).map(ResourceMetadata::router);
    let cors = cors_layer(http);
    let known = ServiceBuilder::new()
        .layer(from_fn_with_state(Arc::clone(&door), auth_layer::authenticate))
        .layer(from_fn_with_state(Arc::clone(&accounts), per_caller::limit_rate))
        .layer(from_fn_with_state(bounds, message::read_body))
        .layer(from_fn_with_state(accounts, per_caller::limit_concurrency))
        .layer(from_fn(auth_layer::end_expired_streams))
        .layer(from_fn_with_state(sessions, sessions::attach_session))
        .layer(map_response(set_content_type));
    let all = ServiceBuilder::new()
        .layer(CatchPanicLayer::custom(internal_error))
        .layer(from_fn(request_id::assign))
        .layer(from_fn_with_state(door, auth_layer::count_response))
        // Again within, so that it is counted and has its id.
        .layer(CatchPanicLayer::custom(internal_error))
        .layer(from_fn_with_state(bounds, message::check_length))
        .layer(from_fn_with_state(Arc::new(names), host_check::check_host))
        .option_layer(cors);
    let known = Router::new().nest_service(PATH, service).layer(known);
    known.merge(metadata.unwrap_or_default()).fallback(not_found).layer(all)
}

/// Who looks at a server with a browser is told where it is.
async fn not_found() -> Response {
    let said = format!("nothing is here: MCP clients connect to {PATH}, by streamable HTTP\n");
    (StatusCode::NOT_FOUND, said).into_response()
}

/// rmcp says in plain words why it refuses a request, and not that they are plain.
async fn set_content_type(mut response: Response) -> Response {
    let status = response.status();
    if (status.is_client_error() || status.is_server_error()) && !response.body().is_end_stream() {
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().entry(header::CONTENT_TYPE).or_insert(plain);
    }
    response
}

/// A mistake of ours ends one request, not the server.
fn internal_error(_: Box<dyn std::any::Any + Send>) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, "the server made a mistake; its log says more").into_response()
}

/// What browsers are told of pages that may call; nothing where there are none.
fn cors_layer(http: &Http) -> Option<CorsLayer> {
    const MCP: [&str; 2] = ["mcp-session-id", "mcp-protocol-version"];
    if http.origins.is_empty() {
        return None;
    }
    let pages = http
        .origins
        .iter()
        .filter_map(|page| HeaderValue::from_str(&host_check::normalize_origin(page)).ok());
    let told =
        MCP.map(HeaderName::from_static).into_iter().chain([header::WWW_AUTHENTICATE, header::RETRY_AFTER]);
    let layer = CorsLayer::new()
        .allow_origin(pages.collect::<Vec<_>>())
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        // Parameters have headers of their own (`Mcp-Param-*`), so there is no list of them.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(told.collect::<Vec<_>>())
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
        // `host_check.rs` did so, before anything else.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(http.body.bytes())
        // One plain body where nothing streams. rmcp 3.9 heeds it only without a session: clients before 2026-07-28 get
        // an event stream all the same.
        .with_json_response(true);
    // What sleeps is found there.
    config.session_store = Some(Arc::clone(&sessions) as Arc<dyn SessionStore>);
    StreamableHttpService::new(move || Ok(handler.clone()), sessions, config)
}
