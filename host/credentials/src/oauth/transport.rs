//! Requests to the token endpoint: through the egress of plugins, bounded, with verified TLS, without redirects and proxies.

use std::time::Duration;

use http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use loggia_egress::{EgressLimits, EgressMode, OperatorClient, SendError, SendTimeouts};
use oauth2::{HttpRequest, HttpResponse};
use url::Url;

/// Bytes of a request or response.
const BYTES: usize = 64 << 10;
/// Timeout of one request.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Error of a request.
#[derive(Debug, thiserror::Error)]
pub(super) enum TransportError {
    /// No response.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The endpoint is not encrypted, and on another machine.
    #[error("tokens are requested over https only, except from this machine")]
    Exposed,
    /// The request cannot be built.
    #[error("the request is not valid HTTP")]
    Malformed,
}

/// Sends one request.
pub(super) async fn send(request: HttpRequest) -> Result<HttpResponse, TransportError> {
    let url = Url::parse(&request.uri().to_string()).map_err(|_| TransportError::Malformed)?;
    let limits = EgressLimits {
        requests: 1,
        at_once: 1,
        request: BYTES,
        response: BYTES,
        time: TIMEOUT,
        redirects: 0,
    };
    let OperatorClient { client, is_private } =
        OperatorClient::resolve(&url, request.method(), limits).await?;
    if !is_private {
        return Err(TransportError::Exposed);
    }
    let (mut parts, body) = request.into_parts();
    // The egress writes these itself.
    parts.headers.remove(header::HOST);
    parts.headers.remove(header::CONTENT_LENGTH);
    let body = Full::new(body.into()).map_err(|never| match never {}).boxed_unsync();
    let call = client.call(EgressMode::Writes);
    let response = call.send(Request::from_parts(parts, body), SendTimeouts::default()).await?;
    let (head, body) = response.into_parts();
    Ok(Response::from_parts(head, body.collect().await?.to_bytes().into()))
}
