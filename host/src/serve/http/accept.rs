//! Connections: so many at once, and none for longer than its client says something.

use std::{
    convert::Infallible,
    io::{self, ErrorKind},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Body, extract::ConnectInfo};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::TokioIo,
    server::graceful::{GracefulShutdown, Watcher},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::{
    clock::{Answer, Clock, Timed},
    door::Known,
    held::Held,
};
use crate::{
    config::server::Http,
    telemetry::meters::{Gauge, Inside},
};

/// The head of a request; hyper takes up to twice that, since it looks when it has read. Tokens are up to 8 KiB.
const HEAD: usize = 32 << 10;
/// Where descriptors or memory are short, accepting waits for better times.
const SHORT: Duration = Duration::from_millis(200);

/// How many connections there may be, and how long they may take for what.
#[derive(Debug, Clone)]
pub struct Connections {
    /// Further ones wait in the kernel's queue, which refuses more than it holds.
    pub most: usize,
    /// How many there are.
    pub open: Arc<Gauge>,
    /// How long they may take.
    pub times: Times,
}

/// How long a connection may take for what.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// The head of a request, from its first byte; of the first one, from the beginning.
    pub head: Duration,
    /// The first byte of the next request, after an answer to somebody known; after another, no longer than a head.
    pub idle: Duration,
    /// Reading some of what is sent: a client that never reads would be kept for ever.
    pub write: Duration,
}

impl Connections {
    /// As the operator wants them.
    pub fn of(http: &Http, open: Arc<Gauge>) -> Self {
        let times = Times { head: http.header_time.0, idle: http.idle_time.0, write: http.write_time.0 };
        Self { most: http.connections, open, times }
    }
}

/// Accepts connections until told to stop, then waits until all have closed.
pub async fn accept(
    listener: TcpListener,
    router: Router,
    Connections { most, open: count, times }: Connections,
    stop: CancellationToken,
) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(most));
    let open = GracefulShutdown::new();
    loop {
        let accepted = async {
            let place = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
            Ok::<_, io::Error>((place, listener.accept().await?))
        };
        let (place, (stream, peer)) = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accepted => match accepted {
                Ok(accepted) => accepted,
                Err(error) if is_the_clients(&error) => continue,
                Err(error) => {
                    tracing::warn!("connections cannot be accepted: {error}");
                    tokio::time::sleep(SHORT).await;
                    continue;
                }
            },
        };
        tokio::spawn(connection(stream, peer, router.clone(), times, open.watcher(), (place, count.enter())));
    }
    drop(listener);
    open.shutdown().await;
    Ok(())
}

/// A client that went before it was accepted is no trouble of the server's.
fn is_the_clients(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    times: Times,
    watcher: Watcher,
    _place: (OwnedSemaphorePermit, Inside),
) {
    // Without it a small answer waits 40 ms for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(times.write));
    let clock = Clock::new(times);
    let stream = Timed { stream: Box::pin(stream), clock: Arc::clone(&clock) };
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        clock.asked();
        request.extensions_mut().insert(ConnectInfo(peer));
        let answered = router.clone().oneshot(request.map(Body::new));
        let clock = Arc::clone(&clock);
        async move {
            let response = answered.await.unwrap_or_else(|never| match never {});
            let held = Answer { clock, known: response.extensions().get::<Known>().is_some() };
            Ok::<_, Infallible>(response.map(|body| Held::new(body, held)))
        }
    });
    let mut http = http1::Builder::new();
    // Its own clock would run from the last answer, for rests and heads alike.
    http.header_read_timeout(None).max_buf_size(HEAD);
    let serving = watcher.watch(http.serve_connection(TokioIo::new(stream), service));
    match clock.keep(serving).await {
        Some(Ok(())) => {}
        Some(Err(error)) => tracing::debug!("a connection ended: {error}"),
        None => tracing::debug!("a client took too long to ask"),
    }
}
