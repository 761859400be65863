//! A panic of the host outside of a call ends one request, with an error.
//!
//! rmcp serves each request in a task of its own, whose panic would leave the client without a response. A panic within a call is a
//! failure of that call; see `loggia_gate::schedule`.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use rmcp::ErrorData;

/// Handles a request, whose error a panic is.
pub(super) async fn catch_panic<T>(
    handling: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    AssertUnwindSafe(handling).catch_unwind().await.unwrap_or_else(|_| Err(panic_error()))
}

/// Error of a request that ended with a panic, which the log has.
pub(super) fn panic_error() -> ErrorData {
    ErrorData::internal_error("internal server error; see the server's log", None)
}
