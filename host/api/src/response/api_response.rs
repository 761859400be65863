//! A response, and what may be kept of it.

use http::{HeaderMap, StatusCode, header};

/// A response whose body was read.
#[derive(Debug, Clone)]
pub(crate) struct ApiResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// What a response may hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseBudget {
    /// Bytes of JSON and text for this call.
    pub(crate) data: usize,
    /// Bytes of everything: `limits.result` of the policy.
    pub(crate) result: usize,
    /// True if another `detail` has a larger budget.
    pub(crate) has_more: bool,
}

impl ApiResponse {
    /// The media type, in lower case, without parameters.
    pub(super) fn media(&self) -> &str {
        let media = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        media.unwrap_or_default().split(';').next().unwrap_or_default().trim()
    }
}
