//! Many clients over streamable HTTP, at `/mcp`.

use std::{future::IntoFuture, io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{
        Method, StatusCode,
        header::{CONTENT_TYPE, HOST, ORIGIN},
    },
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{connections::Connections, duplicates, lines::twice, sessions::Sessions};
use crate::{mcp::Handler, telemetry::meters::Meters};

/// Where the protocol is spoken.
pub const PATH: &str = "/mcp";

/// How long calls that run may go on after the host was told to end.
const DRAIN: Duration = Duration::from_secs(10);
/// How long the last words on open streams may take.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long connections may take to close once their streams have ended.
const CLOSE: Duration = Duration::from_secs(2);
/// Largest request: arguments are 1 MiB where a policy does not say, and JSON text may escape every byte of them.
const BODY: usize = 4 << 20;
/// Connections at once; further ones wait to be accepted.
const CONNECTIONS: usize = 1024;

/// Serves clients until told to stop, and then until their calls have ended, but not for long.
///
/// # Errors
///
/// If connections cannot be accepted.
pub async fn serve(handler: Handler, listener: TcpListener, stop: CancellationToken) -> io::Result<()> {
    let streams = CancellationToken::new();
    let (calls, gate) = (handler.calls(), handler.gate().clone());
    let address = listener.local_addr()?;
    let meters = Arc::clone(gate.meters());
    let listener = Connections::new(listener, CONNECTIONS, Arc::clone(&meters.http.connections));
    let router = Router::new()
        .nest_service(PATH, service(handler, address, streams.clone()))
        .layer(middleware::from_fn(without_duplicates))
        .layer(middleware::from_fn(named_once))
        .layer(middleware::from_fn_with_state(meters, counted));
    let accepting = stop.clone();
    let serving = axum::serve(listener, router)
        .with_graceful_shutdown(async move { accepting.cancelled().await })
        .into_future();
    let ending = async {
        stop.cancelled().await;
        calls.close();
        // Runs whose requests have ended get the same time.
        let calls = async { drop(tokio::time::timeout(DRAIN, calls.wait()).await) };
        tokio::join!(calls, gate.drain(DRAIN));
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

/// Counts answers by their status.
async fn counted(State(meters): State<Arc<Meters>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    meters.http.answered(response.status().as_u16());
    response
}

/// Refuses a request that names the server, or the page that it comes from, in two ways: one of the names is checked, and
/// who sent both may mean the other.
async fn named_once(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = headers.get(HOST).map(|host| host.as_bytes());
    let target = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    let twice = [HOST, ORIGIN].iter().any(|name| headers.get_all(name).iter().count() > 1);
    if twice
        || target.is_some_and(|target| host != Some(target))
        || host.is_some_and(|host| host.contains(&b'@'))
    {
        return (StatusCode::BAD_REQUEST, "the host and the origin must each be named once").into_response();
    }
    next.run(request).await
}

/// Refuses a message that gives a name twice in one object: what it means is anybody's guess.
async fn without_duplicates(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, BODY).await else {
        let said = format!("the message is cut off, or larger than {} MiB", BODY >> 20);
        return (StatusCode::PAYLOAD_TOO_LARGE, said).into_response();
    };
    match duplicates::find(&bytes) {
        None => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Some(name) => {
            let error = serde_json::json!({ "code": -32600, "message": twice(&name) });
            let body = serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error });
            let json = [(CONTENT_TYPE, "application/json")];
            (StatusCode::BAD_REQUEST, json, body.to_string()).into_response()
        }
    }
}

fn service(
    handler: Handler,
    address: SocketAddr,
    streams: CancellationToken,
) -> StreamableHttpService<Handler, Sessions> {
    let (hosts, origins) = allowed(address);
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(streams)
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .with_max_request_body_bytes(BODY)
        // One plain body where nothing streams. rmcp 3.9 heeds it only without a session: clients before 2026-07-28 get
        // an event stream all the same.
        .with_json_response(true);
    let sessions = Sessions::counted(Arc::clone(&handler.gate().meters().http.sessions));
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(sessions), config)
}

/// The names by which a request may call this server, and the pages that may send one: its own. Whatever else names it
/// is a page of somebody else's whose name was made to lead here.
fn allowed(address: SocketAddr) -> (Vec<String>, Vec<String>) {
    let port = address.port();
    let own = address.ip().to_string();
    let hosts = ["localhost", "127.0.0.1", "::1", &own].map(str::to_owned).to_vec();
    let origins = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
    let own = format!("http://{address}");
    (hosts, origins.into_iter().chain([own]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_it_listens_on_is_a_name_of_the_server() {
        let check = |address: &str, host: &str, origin: &str| {
            let (hosts, origins) = allowed(address.parse().unwrap());
            assert!(hosts.iter().any(|own| own == host), "{address}: {hosts:?}");
            assert!(origins.iter().any(|own| own == origin), "{address}: {origins:?}");
        };
        check("127.0.0.1:80", "localhost", "http://localhost:80");
        check("127.0.0.2:8080", "127.0.0.2", "http://127.0.0.2:8080");
        check("127.0.0.2:8080", "127.0.0.1", "http://[::1]:8080");
        check("[::1]:8080", "::1", "http://[::1]:8080");
    }
}
