//! Assigns an id to each request, for the log and the client. A client's own id is ignored, since it could be forged.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};
use tracing::Instrument;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Reads the id of a request.
pub fn read(headers: &HeaderMap) -> Option<&str> {
    headers.get(HEADER)?.to_str().ok()
}

/// Assigns an id, and adds it to the log and the response.
pub async fn assign(mut request: Request, next: Next) -> Response {
    let mut bits = [0; 8];
    // Only for correlation: without randomness, the id is 0.
    let _ = getrandom::fill(&mut bits);
    let id = format!("{:016x}", u64::from_ne_bytes(bits));
    // Read by the audit line of each call.
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
