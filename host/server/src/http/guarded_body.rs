//! Response body with a guard, which is dropped when the body has been sent or abandoned.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::{Body, HttpBody};

/// Body that owns a guard.
pub struct GuardedBody<T> {
    body: Body,
    _guard: T,
}

impl<T> GuardedBody<T> {
    /// Attaches a guard to a body.
    pub fn new(body: Body, guard: T) -> Self {
        Self { body, _guard: guard }
    }
}

impl<T: Unpin> HttpBody for GuardedBody<T> {
    type Data = <Body as HttpBody>::Data;
    type Error = <Body as HttpBody>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
