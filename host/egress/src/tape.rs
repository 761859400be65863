//! Recordings of requests: what answers a request instead of the network, or keeps what the network answered.
//!
//! A tape sees what the guest sees: requests before secrets are added, responses after they were redacted. The policy and
//! the limits apply as without it.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Uri};

use crate::error::SendError;

/// A request as the guest sends it.
#[derive(Debug, Clone)]
pub struct TapedRequest {
    /// Method.
    pub method: Method,
    /// Absolute URL.
    pub uri: Uri,
    /// Headers that the guest sets.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

/// A response as the guest sees it.
#[derive(Debug, Clone)]
pub struct TapedResponse {
    /// Status.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

/// What becomes of a request.
#[derive(Debug, Clone)]
pub enum TapeChoice {
    /// It is sent, and [`HttpTape::keep`] gets its response.
    Send,
    /// It is answered by this response, and nothing is sent.
    Answer(TapedResponse),
    /// It fails, and nothing is sent.
    Fail(SendError),
}

/// Stands between the requests of a call and the network. Called by concurrent requests; must not block.
pub trait HttpTape: fmt::Debug + Send + Sync + 'static {
    /// Decides about a request that the policy admits.
    fn choose(&self, request: &TapedRequest) -> TapeChoice;
    /// Keeps the exchange of a request that was sent; an error is the reason for which it has no response.
    fn keep(&self, request: TapedRequest, response: Result<&TapedResponse, &SendError>);
}

/// The tapes of calls.
pub trait HttpTapes: fmt::Debug + Send + Sync + 'static {
    /// Returns the tape of the call with this id; `None`: its requests are sent, and not kept.
    fn tape(&self, call: &str) -> Option<Arc<dyn HttpTape>>;
}
