//! A name for each request, under which the log and the client can speak of it. Always the server's own: what a client sends
//! could be another's.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};
use tracing::Instrument;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The name of a request that has one.
pub fn read(headers: &HeaderMap) -> Option<&str> {
    headers.get(HEADER)?.to_str().ok()
}

/// Names a request in the log and in its answer.
pub async fn assign(mut request: Request, next: Next) -> Response {
    let mut bits = [0; 8];
    // Only to be told apart: should there be no randomness, it is 0.
    let _ = rustix::rand::getrandom(&mut bits, rustix::rand::GetRandomFlags::empty());
    let id = format!("{:016x}", u64::from_ne_bytes(bits));
    // The line of the log for each call has it too.
    let header = HeaderValue::from_str(&id).ok();
    match &header {
        Some(id) => request.headers_mut().insert(HEADER, id.clone()),
        None => request.headers_mut().remove(&HEADER),
    };
    let span = tracing::info_span!("http", request = %id);
    let method = request.method().clone();
    let mut response = async {
        let response = next.run(request).await;
        tracing::debug!(%method, status = response.status().as_u16(), "answered");
        response
    }
    .instrument(span)
    .await;
    if let Some(id) = header {
        response.headers_mut().insert(HEADER, id);
    }
    response
}
