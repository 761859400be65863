//! One connection, from its start to its end.

use std::{sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::ProtocolVersion,
    service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService},
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use tokio::{runtime::Handle, task::spawn_blocking, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    child::ChildGroup,
    client::UpstreamClient,
    close_reason::CloseSignal,
    http::{HttpClient, innermost},
    open::OpenConnection,
    pipe::{PipeReader, PipeRequests, PipeTransport},
    stderr_log::log_stderr,
    subscription::listen_for_changes,
};
use crate::spec::{HttpSpec, StdioSpec, TransportSpec, UpstreamSpec};

/// Time between the end of a child's stdout and its own end, in which its exit status becomes known.
const STATUS: Duration = Duration::from_millis(500);
/// Time between a child's end and the end of its stdout, which a process that has left its group may hold open.
const DRAIN: Duration = Duration::from_secs(1);

/// Calls at once over HTTP that wait for their first byte. The gate's permits are fewer.
const CONCURRENT: usize = 64;

/// Which handshakes are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandshakeOrder {
    /// `server/discover` (2026-07-28), then `initialize`.
    NewestFirst,
    /// `initialize` alone.
    InitializeOnly,
}

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ConnectionEnd {
    /// A fragment such as "its process ended with exit status: 1".
    pub(super) reason: String,
    /// The server closed the connection during the handshake. Servers before 2026-07-28 may do so at `server/discover`.
    pub(super) hung_up: bool,
}

impl ConnectionEnd {
    fn of(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), hung_up: false }
    }
}

/// Opens a connection, hands it out, and returns when it has ended and nothing of it is left.
///
/// `calls` is the runtime for work that takes longer than a message usually does.
pub(super) async fn run_connection(
    spec: &UpstreamSpec,
    calls: &Handle,
    order: HandshakeOrder,
    stop: &CancellationToken,
    on_open: impl FnOnce(Arc<OpenConnection>),
) -> ConnectionEnd {
    match &spec.transport {
        TransportSpec::Stdio(stdio) => run_child(spec, stdio, calls, order, stop, on_open).await,
        TransportSpec::Http(http) => run_http(spec, http, order, stop, on_open).await,
    }
}

async fn run_child(
    spec: &UpstreamSpec,
    stdio: &StdioSpec,
    calls: &Handle,
    order: HandshakeOrder,
    stop: &CancellationToken,
    on_open: impl FnOnce(Arc<OpenConnection>),
) -> ConnectionEnd {
    let (mut group, streams) = match ChildGroup::start(stdio) {
        Ok(started) => started,
        Err(error) => return ConnectionEnd::of(format!("its command cannot be started: {error}")),
    };
    calls.spawn(log_stderr(spec.name.clone(), streams.stderr, spec.limits.stderr_line));
    let signal = CloseSignal::default();
    let client = UpstreamClient::new(signal.clone());
    let reader = PipeReader::new(&spec.name, streams.stdout, spec.limits.message, calls.clone());
    let (transport, requests) =
        PipeTransport::start(reader, streams.stdin, client.calls.clone(), signal.clone());
    let handshake = client.serve_with_lifecycle(transport, lifecycle(order));
    let shaken = tokio::select! {
        biased;
        shaken = timeout(spec.limits.connect, handshake) => shaken.map_err(|_| {
            ConnectionEnd::of(format!("it did not answer within {} s", spec.limits.connect.as_secs()))
        }),
        status = group.ended() => Err(ConnectionEnd { reason: status, hung_up: true }),
        () = stop.cancelled() => Err(ConnectionEnd::of("the host ends it")),
    };
    let service = match shaken {
        Ok(Ok(service)) => service,
        Ok(Err(error)) => {
            let end = end_of_handshake(&error, &signal, &mut group).await;
            group.end().await;
            return end;
        }
        Err(end) => {
            group.end().await;
            return end;
        }
    };
    on_open(open(&service, Some(requests), &signal));
    tokio::select! {
        () = signal.drained() => explain_end(&signal, &mut group).await,
        status = group.ended() => {
            signal.explain(status);
            let _ = timeout(DRAIN, signal.drained()).await;
        }
        () = stop.cancelled() => signal.explain("the host ends it"),
    }
    signal.close();
    // Closes the child's stdin.
    end_service(service).await;
    group.end().await;
    ConnectionEnd::of(signal.reason())
}

async fn run_http(
    spec: &UpstreamSpec,
    http: &HttpSpec,
    order: HandshakeOrder,
    stop: &CancellationToken,
    on_open: impl FnOnce(Arc<OpenConnection>),
) -> ConnectionEnd {
    let max = spec.limits.message;
    let client = match spawn_blocking(move || HttpClient::new(max)).await {
        Ok(Ok(client)) => client,
        Ok(Err(error)) => return ConnectionEnd::of(error.to_string()),
        Err(_) => return ConnectionEnd::of("the host failed to set up its client"),
    };
    let headers = match HttpClient::headers(http) {
        Ok(headers) => headers,
        Err(error) => return ConnectionEnd::of(error.to_string()),
    };
    let config = StreamableHttpClientTransportConfig::with_uri(http.url.as_str())
        .custom_headers(headers)
        .max_concurrent_requests(CONCURRENT)
        .max_sse_event_size(max);
    let transport = StreamableHttpClientTransport::with_client(client, config);
    let signal = CloseSignal::default();
    let handshake = UpstreamClient::new(signal.clone()).serve_with_lifecycle(transport, lifecycle(order));
    let service = tokio::select! {
        biased;
        shaken = timeout(spec.limits.connect, handshake) => match shaken {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return ConnectionEnd::of(describe(&error)),
            Err(_) => return ConnectionEnd::of(format!("it did not answer within {} s", spec.limits.connect.as_secs())),
        },
        () = stop.cancelled() => return ConnectionEnd::of("the host ends it"),
    };
    on_open(open(&service, None, &signal));
    let cancel = service.cancellation_token();
    let mut ended = std::pin::pin!(service.waiting());
    tokio::select! {
        _ = &mut ended => signal.explain("it closed the connection"),
        () = stop.cancelled() => signal.explain("the host ends it"),
    }
    signal.close();
    cancel.cancel();
    // It deletes its session at the server.
    let _ = timeout(DRAIN, ended).await;
    ConnectionEnd::of(signal.reason())
}

/// Finds out why a child closed its stdout: mostly because it ended.
async fn explain_end(signal: &CloseSignal, group: &mut ChildGroup) {
    if !signal.is_explained() {
        signal.explain(match timeout(STATUS, group.ended()).await {
            Ok(status) => status,
            Err(_) => "it closed its stdout".to_owned(),
        });
    }
}

async fn end_of_handshake(
    error: &ClientInitializeError,
    signal: &CloseSignal,
    group: &mut ChildGroup,
) -> ConnectionEnd {
    let hung_up = matches!(
        error,
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }
    );
    if hung_up {
        explain_end(signal, group).await;
        return ConnectionEnd { reason: signal.reason(), hung_up: !is_bound(signal) };
    }
    ConnectionEnd::of(describe(error))
}

/// Whether the connection was closed from this side.
fn is_bound(signal: &CloseSignal) -> bool {
    signal.reason().starts_with("it sent")
}

/// Describes why a handshake failed, without what the upstream sent.
pub(super) fn describe(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::JsonRpcError(error) => {
            let message = loggia_text::sanitise_line(&loggia_text::redact(&error.message), 400);
            format!("it refused the handshake: {message}")
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => describe(fallback),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it speaks no version of MCP that this host speaks".to_owned()
        }
        ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "it answered the handshake with the id of another request".to_owned()
        }
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        ClientInitializeError::TransportError { error, .. } => {
            loggia_text::sanitise_line(&loggia_text::redact(&innermost(error)), 400)
        }
        _ => "its answer to the handshake is malformed".to_owned(),
    }
}

fn lifecycle(order: HandshakeOrder) -> ClientLifecycleMode {
    match order {
        HandshakeOrder::NewestFirst => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
        HandshakeOrder::InitializeOnly => ClientLifecycleMode::Initialize,
    }
}

fn open(
    service: &RunningService<RoleClient, UpstreamClient>,
    requests: Option<PipeRequests>,
    signal: &CloseSignal,
) -> Arc<OpenConnection> {
    let client = service.service();
    let connection = OpenConnection::new(service.peer().clone(), requests, client, signal.clone());
    if connection.is_stateless() {
        let listening = listen_for_changes(service.peer().clone(), client.changed.clone());
        let signal = signal.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = listening => {}
                () = signal.closed() => {}
            }
        });
    }
    Arc::new(connection)
}

/// Ends rmcp's side of a connection. Its handlers end by themselves once the connection is closed.
async fn end_service(service: RunningService<RoleClient, UpstreamClient>) {
    // It ends a moment later, if it takes longer.
    let _ = timeout(DRAIN, service.cancel()).await;
}
