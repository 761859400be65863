//! Exchanges an admitted request by a tape.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{Response, request::Parts};
use http_body_util::{BodyExt, Full};
use tokio::time::timeout_at;

use crate::{
    body::{BodyIn, BodyOut},
    destination::RequestTarget,
    error::{ExchangePhase, MessagePart, SendError},
    exchange::{self, ExchangeJob},
    tape::{HttpTape, TapeChoice, TapedRequest, TapedResponse},
};

/// Exchanges an admitted request by a tape. Both bodies are read whole before they are passed on.
pub(crate) async fn run(
    tape: Arc<dyn HttpTape>,
    job: ExchangeJob,
    to: RequestTarget,
    parts: Parts,
    body: BodyIn,
) -> Result<Response<BodyOut>, SendError> {
    let (end, limits) = (job.end, Arc::clone(&job.call.limits));
    let reading = timeout_at(end, read_request(body, limits.request)).await;
    let body = reading.map_err(|_| SendError::Timeout(ExchangePhase::Total))??;
    let request = TapedRequest {
        method: parts.method.clone(),
        uri: parts.uri.clone(),
        headers: parts.headers.clone(),
        body,
    };
    let response = match tape.choose(&request) {
        TapeChoice::Answer(response) => response,
        TapeChoice::Fail(error) => return Err(error),
        TapeChoice::Send => {
            let body = Full::new(request.body.clone()).map_err(|never| match never {}).boxed_unsync();
            let sent = exchange::run(job, to, parts, body).await;
            let response = match sent {
                Ok(response) => read(response).await,
                Err(error) => Err(error),
            };
            tape.keep(request, response.as_ref());
            response?
        }
    };
    if response.body.len() > limits.response {
        return Err(SendError::TooLarge { what: MessagePart::Response, limit: limits.response });
    }
    let mut message = Response::new(Full::new(response.body).map_err(|never| match never {}).boxed_unsync());
    *message.status_mut() = response.status;
    *message.headers_mut() = response.headers;
    Ok(message)
}

/// Reads the body of a request whole.
async fn read_request(mut body: BodyIn, limit: usize) -> Result<Bytes, SendError> {
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        // Trailers are dropped, as when a request is sent.
        let Ok(data) = frame.map_err(|_| SendError::Body)?.into_data() else { continue };
        if read.len() + data.len() > limit {
            return Err(SendError::TooLarge { what: MessagePart::Request, limit });
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}

/// Reads a response whole. Its body enforces its own limit and times.
async fn read(response: Response<BodyOut>) -> Result<TapedResponse, SendError> {
    let (head, body) = response.into_parts();
    let body = body.collect().await?.to_bytes();
    Ok(TapedResponse { status: head.status, headers: head.headers, body })
}
