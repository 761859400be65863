//! The listener for who runs the server: `/healthz`, `/readyz`, `/metrics`. Without authentication and without secrets, so it
//! belongs on an address that only they reach. It answers for as long as the process lives, the longest of all.

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
use loggia_gate::call::Gate;
use loggia_text::{printable, redact, shorten};
use serde::Serialize;
use tokio::{net::TcpListener, runtime::Handle};
use tokio_util::sync::CancellationToken;

use super::{
    PluginHost,
    auth::Authenticator,
    http::{
        accept::{ConnectionConfig, accept},
        connection_table::ConnectionBounds,
        timeouts::ConnectionTimeouts,
    },
    vitals,
    vitals::TaskCounts,
};
use crate::{
    load,
    load::{Report, Standing, Stands},
    telemetry::{classic, logs, metrics, metrics::MetricsSnapshot, trail},
};

/// Connections at once: probes, and who looks at the figures.
const CONNECTIONS: usize = 64;
/// Bytes of the head of a request.
const HEAD: usize = 32 << 10;
/// How long one may wait for its request, and for its answer to be read. Each carries one.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a runtime may take to begin a task, before it counts as stuck. Guests that loop make others wait, but not so long.
const TASK_TIMEOUT: Duration = Duration::from_secs(2);
/// Files that `/readyz` names, those that fail first.
const FILES: usize = 500;
/// Characters of a reason.
const REASON: usize = 1000;

/// What is told of a server.
#[derive(Clone)]
pub struct AdminState(Arc<AdminContext>);

struct AdminContext {
    gate: Gate,
    standing: Arc<Standing>,
    /// That answers clients, and of calls.
    runtimes: Option<[Handle; 3]>,
    /// Names by which requests may call the listener, beside addresses.
    hosts: Vec<String>,
    /// Who calls; none where callers need not say.
    authenticator: Option<Authenticator>,
}

impl AdminContext {
    fn readiness(&self, stop: &CancellationToken, report: &Report) -> Readiness {
        let keys = self.authenticator.as_ref().is_none_or(Authenticator::is_ready);
        Readiness::new(stop.is_cancelled(), self.gate.catalog().is_admitted(), keys, report)
    }
}

impl AdminState {
    /// Of this host. Must be called on the runtime that answers clients.
    pub fn new(host: &PluginHost, hosts: Vec<String>, authenticator: Option<Authenticator>) -> Self {
        let runtimes = host.lanes().map(|lanes| [Handle::current(), lanes.calls, lanes.heavy]);
        Self(Arc::new(AdminContext {
            gate: host.gate.clone(),
            standing: Arc::clone(&host.standing),
            runtimes,
            hosts,
            authenticator,
        }))
    }
}

/// Answers until it is dropped. Once `stop` is cancelled the server is no longer ready.
///
/// # Errors
///
/// If connections cannot be accepted.
pub async fn serve(listener: TcpListener, state: AdminState, stop: CancellationToken) -> io::Result<()> {
    let times = ConnectionTimeouts { head: TIMEOUT, idle: TIMEOUT, write: TIMEOUT };
    let bounds = ConnectionBounds { most: CONNECTIONS, per_address: None, loopback: false };
    let bounds = ConnectionConfig { bounds, open: Arc::default(), head: HEAD, times };
    let router = Router::new()
        .route("/healthz", get(health))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics_page))
        .layer(middleware::from_fn_with_state(state.clone(), check_host))
        .layer(middleware::map_response(set_headers))
        .with_state((state, stop));
    accept(listener, router, bounds, CancellationToken::new()).await
}

/// Each answer is the connection's last, and nobody keeps it.
async fn set_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Refuses a request that calls the server by a name that is not its own: it comes from a page of somebody else's whose name
/// was made to lead here.
async fn check_host(Axum(AdminState(told)): Axum<AdminState>, request: Request, next: Next) -> Response {
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        // HTTP/1.0 has none, and no browser speaks it.
        (None, _) => next.run(request).await,
        (Some(host), None) if host.to_str().is_ok_and(|host| is_own(host, &told.hosts)) => {
            next.run(request).await
        }
        (_, None) => {
            let said = "this is not a name of the admin listener: use its address, or add the name to `admin.hosts`\n";
            (StatusCode::FORBIDDEN, said).into_response()
        }
        (_, Some(_)) => (StatusCode::BAD_REQUEST, "the host must be named once\n").into_response(),
    }
}

/// An address is no name that could be made to lead elsewhere.
fn is_own(host: &str, names: &[String]) -> bool {
    let (host, port) = match host.rsplit_once(':') {
        // Else the colon is one of an address within brackets.
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

/// Whether the process works: this runtime answers, and the others take tasks.
async fn health(Axum((AdminState(told), _)): AdminExtract) -> Response {
    for runtime in told.runtimes.iter().flatten() {
        if tokio::time::timeout(TASK_TIMEOUT, runtime.spawn(async {})).await.is_err() {
            return (StatusCode::SERVICE_UNAVAILABLE, "the runtimes of calls take no tasks\n")
                .into_response();
        }
    }
    "ok\n".into_response()
}

/// Whether clients should be sent here, and how each file of the folder stands.
async fn ready(Axum((AdminState(told), stop)): AdminExtract) -> Response {
    let readiness = told.readiness(&stop, &told.standing.now());
    let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    // What it is made of always serialises.
    let body = serde_json::to_string_pretty(&readiness).unwrap_or_default();
    (status, [(CONTENT_TYPE, "application/json")], body + "\n").into_response()
}

async fn metrics_page(Axum((AdminState(told), stop)): AdminExtract, headers: HeaderMap) -> Response {
    let report = told.standing.now();
    let tasks = told
        .runtimes
        .as_ref()
        .map(|runtimes| ["io", "calls", "heavy"].into_iter().zip(TaskCounts::read(runtimes).0));
    let figures = MetricsSnapshot {
        meters: Arc::clone(told.gate.meters()),
        census: told.gate.census(),
        plugins: load::State::ALL.map(|state| (state.as_str(), report.count(state))).to_vec(),
        reloads: told.standing.reloads(),
        ready: told.readiness(&stop, &report).ready,
        dropped: logs::dropped(),
        lost: trail::lost(),
        tasks: tasks.into_iter().flatten().collect(),
        process: vitals::process_stats().ok(),
    };
    let page = metrics::render(figures);
    let accepts = headers.get_all(ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    match accepts.into_iter().any(classic::wants_openmetrics) {
        true => ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], page).into_response(),
        false => ([(CONTENT_TYPE, classic::CONTENT_TYPE)], classic::to_classic(&page)).into_response(),
    }
}

/// What `/readyz` tells.
#[derive(Debug, PartialEq, Serialize)]
struct Readiness {
    ready: bool,
    /// Told to end: calls that run may finish.
    draining: bool,
    /// All that was in the folder at the start has been looked at.
    loaded: bool,
    /// Why it is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Files by how they stand.
    serving: usize,
    stale: usize,
    failed: usize,
    refused: usize,
    plugins: Vec<Stands>,
    /// Files that are not named.
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(more: &usize) -> bool {
    *more == 0
}

impl Readiness {
    /// Pure. One file that fails does not make the server unready: the others serve, and every replica with the same
    /// folder would go at once. Where nothing serves at all and something failed, no client has any use for it.
    fn new(draining: bool, loaded: bool, keys: bool, report: &Report) -> Self {
        let [failed, stale, refused, serving] = load::State::ALL.map(|state| report.count(state));
        let why = if draining {
            Some("the server is being ended".to_owned())
        } else if !loaded {
            Some("plugins are still being loaded".to_owned())
        } else if !keys {
            Some("the keys of the authorization server have not been fetched yet".to_owned())
        } else if serving + stale > 0 {
            None
        } else if let Some(folder) = &report.folder {
            Some(one_line(folder))
        } else if failed + refused > 0 {
            Some("nothing serves, and plugins failed".to_owned())
        } else {
            None
        };
        let mut plugins: Vec<&Stands> = report.files.iter().collect();
        plugins.sort_by(|a, b| (a.state, a.why.is_none(), &a.file).cmp(&(b.state, b.why.is_none(), &b.file)));
        let more = plugins.len().saturating_sub(FILES);
        let plugins = plugins.into_iter().take(FILES).map(|stands| Stands {
            file: one_line(&stands.file),
            why: stands.why.as_deref().map(one_line),
            ..stands.clone()
        });
        let plugins = plugins.collect();
        Self { ready: why.is_none(), draining, loaded, why, serving, stale, failed, refused, plugins, more }
    }
}

/// A reason on one line, of bounded length: a plugin may have a part in it.
fn one_line(text: &str) -> String {
    shorten(&printable(&redact(text)), REASON)
}

#[cfg(test)]
mod tests;
