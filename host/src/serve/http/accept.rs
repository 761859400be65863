//! Connections: so many at once, and none for longer than its client says something.

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

use axum::{Router, body::Body, extract::ConnectInfo};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::TokioIo,
    server::graceful::{GracefulShutdown, Watcher},
};
use loggia_gate::flow::Gauge;
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::{
    auth_layer::KnownCaller,
    clock::{ConnectionClock, ResponseGuard, TimedStream},
    connection_table::{ConnectionBounds, ConnectionPlace, ConnectionTable},
    guarded_body::GuardedBody,
    oversize::HeadRefusal,
    timeouts::ConnectionTimeouts,
};
use crate::config::server::Http;

/// Connections of one address, where the file does not say.
const PER_ADDRESS: usize = 64;
/// Where descriptors or memory are short, accepting waits for better times.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(200);

/// How many connections there may be, and how long they may take for what.
#[derive(Debug, Clone)]
pub struct ConnectionConfig {
    /// Where nobody can make room, one more waits, and further ones in the kernel's queue, which refuses more than it holds.
    pub bounds: ConnectionBounds,
    /// How many there are.
    pub open: Arc<Gauge>,
    /// Bytes of the largest head of a request; hyper takes up to twice that, since it looks when it has read.
    pub head: usize,
    /// How long they may take.
    pub times: ConnectionTimeouts,
}

impl ConnectionConfig {
    /// As the operator wants them.
    pub fn from_settings(http: &Http, open: Arc<Gauge>) -> Self {
        let times =
            ConnectionTimeouts { head: http.header_time.0, idle: http.idle_time.0, write: http.write_time.0 };
        let said = http.connections_per_address;
        let bounds = ConnectionBounds {
            most: http.connections,
            per_address: Some(said.unwrap_or(PER_ADDRESS)).filter(|most| *most > 0),
            loopback: said.is_some(),
        };
        Self { bounds, open, head: http.head.bytes(), times }
    }
}

/// Accepts connections until told to stop, then waits until all have closed.
pub async fn accept(
    listener: TcpListener,
    router: Router,
    ConnectionConfig { bounds, open: count, head, times }: ConnectionConfig,
    stop: CancellationToken,
) -> io::Result<()> {
    let table = ConnectionTable::new(bounds);
    let open = GracefulShutdown::new();
    let was_told = AtomicBool::new(false);
    loop {
        let accepted = async {
            let (stream, peer) = listener.accept().await?;
            let clock = ConnectionClock::new(times);
            let place = table.admit(peer.ip(), &clock).await;
            Ok::<_, io::Error>((stream, peer, clock, place))
        };
        let (stream, peer, clock, place) = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accepted => match accepted {
                Ok((stream, peer, clock, Some(place))) => (stream, peer, clock, place),
                Ok((_, peer, _, None)) => {
                    log_rejected(&was_told, peer);
                    continue;
                }
                Err(error) if is_client_error(&error) => continue,
                Err(error) => {
                    tracing::warn!("connections cannot be accepted: {error}");
                    tokio::time::sleep(ACCEPT_BACKOFF).await;
                    continue;
                }
            },
        };
        clock.start();
        let serving =
            serve_connection(stream, peer, router.clone(), (clock, head, times), open.watcher(), place);
        let counted = count.enter();
        tokio::spawn(async move {
            serving.await;
            drop(counted);
        });
    }
    drop(listener);
    open.shutdown().await;
    Ok(())
}

/// Who runs the server is told once: it may be a proxy that has all clients, or one client that has too many connections.
fn log_rejected(was_told: &AtomicBool, peer: SocketAddr) {
    if was_told.swap(true, Ordering::Relaxed) {
        tracing::debug!("a connection of {} was closed: it has as many as it may", peer.ip());
    } else {
        tracing::warn!(
            "a connection of {} was closed, since it has as many as `http.connections-per-address` allows; further \
             ones are logged as debug",
            peer.ip()
        );
    }
}

/// A client that went before it was accepted is no trouble of the server's.
fn is_client_error(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    (clock, head, times): (Arc<ConnectionClock>, usize, ConnectionTimeouts),
    watcher: Watcher,
    place: ConnectionPlace,
) {
    // Without it a small answer waits 40 ms for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(times.write));
    let refusal = HeadRefusal::new(head);
    let stream = TimedStream { stream: Box::pin(stream), clock: Arc::clone(&clock), refusal };
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        clock.asked();
        request.extensions_mut().insert(ConnectInfo(peer));
        let answered = router.clone().oneshot(request.map(Body::new));
        let clock = Arc::clone(&clock);
        async move {
            let response = answered.await.unwrap_or_else(|never| match never {});
            let held =
                ResponseGuard { clock, authenticated: response.extensions().get::<KnownCaller>().is_some() };
            Ok::<_, Infallible>(response.map(|body| GuardedBody::new(body, held)))
        }
    });
    let mut http = http1::Builder::new();
    // Its own clock would run from the last answer, for rests and heads alike.
    http.header_read_timeout(None).max_buf_size(head);
    let serving = watcher.watch(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        kept = clock.enforce(serving) => match kept {
            Some(Ok(())) => {}
            Some(Err(error)) => tracing::debug!("a connection ended: {error}"),
            None => tracing::debug!("a client took too long to ask"),
        },
        () = place.close.cancelled() => tracing::debug!("a connection that asked nothing made room for another"),
    }
}
