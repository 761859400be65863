//! Assigns an id to each request, for the log and the client. A client's own id is ignored, since it could be forged.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue},
    response::Response,
};
use data_encoding::HEXLOWER;
use tracing::Span;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Requests so far. Relaxed: only that each has a number of its own matters.
static COUNT: AtomicU64 = AtomicU64::new(0);
/// Random keys that turn numbers into ids, which do not tell how many requests there were. Random ids would each need a system call.
static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Reads the id of a request.
pub fn read(headers: &HeaderMap) -> Option<&str> {
    headers.get(HEADER)?.to_str().ok()
}

/// Id of a request.
pub struct RequestId(HeaderValue);

impl RequestId {
    /// Assigns an id to a request. The audit line of its call has it, too.
    pub fn assign(request: &mut Request) -> Self {
        let bits = KEYS.hash_one(COUNT.fetch_add(1, Ordering::Relaxed));
        let mut digits = [0; 16];
        HEXLOWER.encode_mut(&bits.to_be_bytes(), &mut digits);
        let id = HeaderValue::from_bytes(&digits).unwrap_or(HeaderValue::from_static("0"));
        request.headers_mut().insert(HEADER, id.clone());
        Self(id)
    }

    /// Creates a span of the log, whose lines have the id.
    pub fn span(&self) -> Span {
        tracing::info_span!("http", request = %self.0.to_str().unwrap_or_default())
    }

    /// Adds the id to the response.
    pub fn attach(self, response: &mut Response) {
        response.headers_mut().insert(HEADER, self.0);
    }
}
