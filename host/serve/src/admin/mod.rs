//! Admin listener: `/healthz`, `/readyz`, `/metrics`, unauthenticated and without secrets; `/credentials` and `/approvals`,
//! for operators, and their page, `/operator/`. Bind it to loopback or a private network. It answers until the process exits.

mod approvals;
mod credentials;
mod operator;

use std::{io, net::IpAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State as Axum},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{ACCEPT, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HOST},
    },
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use loggia_server::{
    auth::Authenticator,
    http::{ConnectionBounds, ConnectionConfig, ConnectionTimeouts, accept},
};
use loggia_telemetry::{classic, metrics};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use self::{
    approvals::{ApprovalAdmin, RefusalMeter},
    credentials::CredentialAdmin,
};
use super::{
    PluginHost,
    metrics_source::MetricsSource,
    page::{self, OperatorPage},
};

/// Maximum number of connections: probes and scrapers.
const CONNECTIONS: usize = 64;
/// Maximum size of a request's headers.
const HEAD: usize = 32 << 10;
/// Timeout of reading a request and of writing its response. Each connection carries one request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Time within which a runtime must start a task, or it counts as stuck. Looping guests delay tasks by less.
const TASK_TIMEOUT: Duration = Duration::from_secs(2);

/// State that the admin listener reports.
#[derive(Clone)]
pub struct AdminState(Arc<AdminContext>);

struct AdminContext {
    source: MetricsSource,
    /// Allowed host names, besides addresses.
    hosts: Vec<String>,
}

impl AdminState {
    /// Creates the state of this host. Must be called on the I/O runtime.
    pub fn new(host: &PluginHost, hosts: Vec<String>, authenticator: Option<Authenticator>) -> Self {
        Self(Arc::new(AdminContext { source: MetricsSource::new(host, authenticator), hosts }))
    }
}

/// What operators can do on the listener.
#[derive(Default)]
pub struct OperatorApis {
    /// Manages credentials of callers.
    pub credentials: Option<CredentialAdmin>,
    /// Decides approvals.
    pub approvals: Option<ApprovalAdmin>,
    /// The page for people.
    pub page: Option<OperatorPage>,
}

/// Serves until it is dropped. Once `stop` is cancelled, the server is no longer ready.
///
/// # Errors
///
/// If connections cannot be accepted.
pub async fn serve(
    listener: TcpListener,
    state: AdminState,
    OperatorApis { credentials, approvals, page }: OperatorApis,
    stop: CancellationToken,
) -> io::Result<()> {
    let times = ConnectionTimeouts { head: TIMEOUT, idle: TIMEOUT, write: TIMEOUT };
    let bounds = ConnectionBounds { most: CONNECTIONS, per_address: None, loopback: false };
    let bounds = ConnectionConfig { bounds, open: Arc::default(), head: HEAD, times };
    let router = Router::new()
        .route("/healthz", get(health))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics_page))
        .with_state((state.clone(), stop.clone()))
        .merge(credentials::routes(credentials))
        .merge(approvals::routes(approvals))
        .merge(page::routes(page, &stop))
        .layer(middleware::from_fn_with_state(state, check_host))
        .layer(middleware::map_response(set_headers));
    accept(listener, router, bounds, CancellationToken::new()).await
}

/// Closes the connection after each response, and forbids caching.
async fn set_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Refuses requests with a foreign `Host`, to prevent DNS rebinding: a web page whose name was pointed at this address.
async fn check_host(Axum(AdminState(context)): Axum<AdminState>, request: Request, next: Next) -> Response {
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        // HTTP/1.0 has no `Host`, and no browser uses it.
        (None, _) => next.run(request).await,
        (Some(host), None) if host.to_str().is_ok_and(|host| is_own(host, &context.hosts)) => {
            next.run(request).await
        }
        (_, None) => {
            let message = "this is not a name of the admin listener: use its address, or add the name to `admin.hosts`\n";
            (StatusCode::FORBIDDEN, message).into_response()
        }
        (_, Some(_)) => (StatusCode::BAD_REQUEST, "the host must be named once\n").into_response(),
    }
}

/// Returns true for IP addresses, which need no DNS, and for allowed names.
fn is_own(host: &str, names: &[String]) -> bool {
    let (host, port) = match host.rsplit_once(':') {
        // Otherwise the colon belongs to an IPv6 address in brackets.
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (host, None),
    };
    if port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return false;
    }
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match bare {
        Some(address) => matches!(address.parse(), Ok(IpAddr::V6(_))),
        None => {
            matches!(host.parse(), Ok(IpAddr::V4(_)))
                || host.eq_ignore_ascii_case("localhost")
                || names.iter().any(|name| name.eq_ignore_ascii_case(host))
        }
    }
}

type AdminExtract = Axum<(AdminState, CancellationToken)>;

/// Liveness: this runtime responds, and the others start tasks.
async fn health(Axum((AdminState(context), _)): AdminExtract) -> Response {
    for runtime in context.source.runtimes() {
        if tokio::time::timeout(TASK_TIMEOUT, runtime.spawn(async {})).await.is_err() {
            return (StatusCode::SERVICE_UNAVAILABLE, "the runtimes of calls do not start tasks\n")
                .into_response();
        }
    }
    "ok\n".into_response()
}

/// Readiness, and the state of each file of the folder.
async fn ready(Axum((AdminState(context), stop)): AdminExtract) -> Response {
    let readiness = context.source.readiness(&stop, &context.source.load_report());
    let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    // Its fields always serialize.
    let body = serde_json::to_string_pretty(&readiness).unwrap_or_default();
    (status, [(CONTENT_TYPE, "application/json")], body + "\n").into_response()
}

async fn metrics_page(Axum((AdminState(context), stop)): AdminExtract, headers: HeaderMap) -> Response {
    let page = metrics::render(context.source.snapshot(&stop));
    let accepts = headers.get_all(ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    match accepts.into_iter().any(classic::wants_openmetrics) {
        true => ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], page).into_response(),
        false => ([(CONTENT_TYPE, classic::CONTENT_TYPE)], classic::to_classic(&page)).into_response(),
    }
}

#[cfg(test)]
mod tests;
