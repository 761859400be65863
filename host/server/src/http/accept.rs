//! Accepts connections, within limits of number and time.

use std::{
    convert::Infallible,
    io::{self, ErrorKind},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request},
    response::Response,
};
use futures_util::FutureExt;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::TokioIo,
    server::graceful::{GracefulShutdown, Watcher},
};
use loggia_gate::flow::Gauge;
use loggia_policy::settings::Http;
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt};

use super::{
    authentication::KnownCaller,
    clock::{ConnectionClock, ResponseGuard, TimedStream},
    connection_table::{ConnectionBounds, ConnectionPlace, ConnectionTable},
    guarded_body::GuardedBody,
    oversize::HeadRefusal,
    timeouts::ConnectionTimeouts,
};

/// Default limit of connections per address.
const PER_ADDRESS: usize = 64;
/// Pause after a failed accept, when descriptors or memory run out.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(200);
/// How long requests are still read once the listener has closed: a proxy sends them on idle connections until it notices.
const LINGER: Duration = Duration::from_millis(200);

/// Limits of the connections of a listener.
#[derive(Debug, Clone)]
pub struct ConnectionConfig {
    /// Limits of number. At capacity, if no connection can be evicted, one more waits here and others in the kernel's backlog.
    pub bounds: ConnectionBounds,
    /// Gauge of open connections.
    pub open: Arc<Gauge>,
    /// Maximum size of a request's headers in bytes. hyper checks after reading, so it may buffer twice that.
    pub head: usize,
    /// Limits of time.
    pub times: ConnectionTimeouts,
}

impl ConnectionConfig {
    /// Reads the limits from the settings.
    pub fn from_settings(http: &Http, open: Arc<Gauge>) -> Self {
        let times =
            ConnectionTimeouts { head: http.header_time.0, idle: http.idle_time.0, write: http.write_time.0 };
        let per_address = http.connections_per_address;
        let bounds = ConnectionBounds {
            most: http.connections,
            per_address: Some(per_address.unwrap_or(PER_ADDRESS)).filter(|most| *most > 0),
            loopback: per_address.is_some(),
        };
        Self { bounds, open, head: http.head.bytes(), times }
    }
}

/// Accepts connections until `stop` is cancelled, then waits until all have closed.
pub async fn accept<S>(
    listener: TcpListener,
    service: S,
    ConnectionConfig { bounds, open: count, head, times }: ConnectionConfig,
    stop: CancellationToken,
) -> io::Result<()>
where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    let table = ConnectionTable::new(bounds);
    let open = GracefulShutdown::new();
    let was_logged = AtomicBool::new(false);
    let next = async || {
        let (stream, peer) = listener.accept().await?;
        let clock = ConnectionClock::new(times);
        let Some(place) = table.admit(peer.ip(), &clock).await else {
            log_rejected(&was_logged, peer);
            return Ok(None);
        };
        Ok::<_, io::Error>(Some(AcceptedConnection { stream, peer, clock, place }))
    };
    let start = |connection: AcceptedConnection| {
        connection.clock.start();
        let serving = serve_connection(connection, service.clone(), head, times.write, open.watcher());
        let counted = count.track();
        tokio::spawn(async move {
            serving.await;
            drop(counted);
        });
    };
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = next() => accepted,
        };
        match accepted {
            Ok(Some(connection)) => start(connection),
            Ok(None) => {}
            Err(error) if is_client_error(&error) => {}
            Err(error) => {
                tracing::warn!("failed to accept connections: {error}");
                tokio::time::sleep(ACCEPT_BACKOFF).await;
            }
        }
    }
    // A proxy may already have sent requests on connections that wait in the kernel's backlog, which closing would reset.
    while let Some(Ok(connection)) = next().now_or_never() {
        connection.into_iter().for_each(&start);
    }
    drop(listener);
    tokio::time::sleep(LINGER).await;
    open.shutdown().await;
    Ok(())
}

/// Logs a connection that was rejected because of its address: the first one as a warning. It may be one client with too
/// many connections, or a proxy in front of all clients.
fn log_rejected(was_logged: &AtomicBool, peer: SocketAddr) {
    if was_logged.swap(true, Ordering::Relaxed) {
        tracing::debug!("closed a connection of {}: too many of this address", peer.ip());
    } else {
        tracing::warn!(
            "closed a connection of {}: it has reached `http.connections-per-address` (further ones are logged at level \
             debug)",
            peer.ip()
        );
    }
}

/// Returns true if the client disconnected before its connection was accepted.
fn is_client_error(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// A connection that has its place in the table.
struct AcceptedConnection {
    stream: TcpStream,
    peer: SocketAddr,
    clock: Arc<ConnectionClock>,
    place: ConnectionPlace,
}

async fn serve_connection<S>(
    AcceptedConnection { stream, peer, clock, place }: AcceptedConnection,
    service: S,
    head: usize,
    write_timeout: Duration,
    watcher: Watcher,
) where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync,
{
    // Without TCP_NODELAY a small response waits 40 ms for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "failed to set TCP_NODELAY");
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(write_timeout));
    let refusal = HeadRefusal::new(head);
    let stream = TimedStream { stream: Box::pin(stream), clock: Arc::clone(&clock), refusal };
    let answer = service_fn(|mut request: hyper::Request<Incoming>| {
        clock.asked();
        request.extensions_mut().insert(ConnectInfo(peer));
        let answered = service.clone().oneshot(request.map(Body::new));
        let clock = Arc::clone(&clock);
        async move {
            let response = answered.await.unwrap_or_else(|never| match never {});
            let guard =
                ResponseGuard { clock, authenticated: response.extensions().get::<KnownCaller>().is_some() };
            Ok::<_, Infallible>(response.map(|body| GuardedBody::new(body, guard)))
        }
    });
    let mut http = http1::Builder::new();
    // hyper's timeout runs from the last response, for idle connections and incomplete headers alike.
    http.header_read_timeout(None).max_buf_size(head);
    let serving = watcher.watch(http.serve_connection(TokioIo::new(stream), answer));
    tokio::select! {
        served = clock.enforce(serving) => match served {
            Some(Ok(())) => {}
            Some(Err(error)) => tracing::debug!("a connection ended: {error}"),
            None => tracing::debug!("closed a connection: its request timed out"),
        },
        () = place.close.cancelled() => tracing::debug!("evicted an unauthenticated connection"),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use axum::{Router, routing::get};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn requests_that_wait_in_the_backlog_are_answered_when_the_server_stops() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
        let stop = CancellationToken::new();
        stop.cancel();
        let router = Router::new().route("/", get(async || "fine"));
        let config = ConnectionConfig::from_settings(&Http::default(), Arc::default());
        let mut answer = String::new();
        let (served, read) =
            tokio::join!(accept(listener, router, config, stop), client.read_to_string(&mut answer));
        served.unwrap();
        read.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("fine"), "{answer}");
    }
}
