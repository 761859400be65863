//! A body that holds something until it has been sent, or given up.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::{Body, HttpBody};

/// A body, and what is dropped with it.
pub struct GuardedBody<T> {
    body: Body,
    _held: T,
}

impl<T> GuardedBody<T> {
    /// This body, which holds this.
    pub fn new(body: Body, held: T) -> Self {
        Self { body, _held: held }
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
