//! A panic of the host outside of a call ends one request, with an error.
//!
//! rmcp serves each request in a task of its own, whose panic would leave the client without a response. A panic within a call is a
//! failure of that call; see `loggia_gate::schedule`.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use rmcp::ErrorData;

/// Handles a request, whose error a panic is. Boxed: rmcp copies the future of every request several times, at the size of the largest.
pub(super) fn catch_panic<'a, T: 'a>(
    handling: impl Future<Output = Result<T, ErrorData>> + Send + 'a,
) -> impl Future<Output = Result<T, ErrorData>> + Send + 'a {
    let handling = AssertUnwindSafe(handling).catch_unwind().boxed();
    handling.map(|ended| ended.unwrap_or_else(|_| Err(panic_error())))
}

/// Error of a request that ended with a panic, which the log has.
pub(super) fn panic_error() -> ErrorData {
    ErrorData::internal_error("internal server error; see the server's log", None)
}
