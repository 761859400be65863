//! Many clients over streamable HTTP, at `/mcp`.

use std::{future::IntoFuture, io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, serve::ListenerExt};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::mcp::Handler;

/// Where the protocol is spoken.
pub const PATH: &str = "/mcp";

/// How long calls that run may go on after the host was told to end.
const DRAIN: Duration = Duration::from_secs(10);
/// How long the last words on open streams may take.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long connections may take to close once their streams have ended.
const CLOSE: Duration = Duration::from_secs(2);
/// A client that is silent for so long loses its session, and with it the news that the list changed.
const SESSION: Duration = Duration::from_secs(24 * 60 * 60);
/// Largest request: arguments are at most 1 MiB, and JSON text may escape every byte of them.
const BODY: usize = 4 << 20;

/// Serves clients until told to stop, and then until their calls have ended, but not for long.
///
/// # Errors
///
/// If connections cannot be accepted.
pub async fn serve(handler: Handler, listener: TcpListener, stop: CancellationToken) -> io::Result<()> {
    let streams = CancellationToken::new();
    let calls = handler.calls();
    let address = listener.local_addr()?;
    let listener = listener.tap_io(|stream| {
        // Without it a small answer waits 40 ms for the client's acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
    });
    let router = Router::new().nest_service(PATH, service(handler, address, streams.clone()));
    let accepting = stop.clone();
    let serving = axum::serve(listener, router)
        .with_graceful_shutdown(async move { accepting.cancelled().await })
        .into_future();
    let ending = async {
        stop.cancelled().await;
        calls.close();
        let _ = tokio::time::timeout(DRAIN, calls.wait()).await;
        tokio::time::sleep(LAST_WORDS).await;
        // Open event streams would keep the server from ending.
        streams.cancel();
        tokio::time::sleep(CLOSE).await;
    };
    tokio::select! {
        served = serving => served,
        () = ending => Ok(()),
    }
}

fn service(
    handler: Handler,
    address: SocketAddr,
    streams: CancellationToken,
) -> StreamableHttpService<Handler, LocalSessionManager> {
    let port = address.port();
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION);
    let hosts = ["localhost", "127.0.0.1", "::1"];
    let origins = [
        format!("http://localhost:{port}"),
        format!("http://127.0.0.1:{port}"),
        format!("http://[::1]:{port}"),
    ];
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(streams)
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .with_max_request_body_bytes(BODY)
        // One plain body where nothing streams.
        .with_json_response(true);
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(sessions), config)
}
