//! Request bodies: counted, timed and streamed.

use std::{
    error::Error,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::{
    SendError,
    error::{ExchangePhase, MessagePart},
};

/// Body of a request, as the guest passes it.
pub type BodyIn = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// Body of a response, as the guest receives it.
pub type BodyOut = UnsyncBoxBody<Bytes, SendError>;

/// State shared by the two directions of one exchange. The upload sets it and is polled by the connection's task; the
/// download reads it and is polled by the guest's. Each field is set once and is independent of the other, so there is no lock.
#[derive(Default)]
pub(crate) struct ExchangeState {
    /// Error of the request's body. hyper only reports that the connection ended, and to the response.
    cause: OnceLock<SendError>,
    /// Set once a byte of the body was sent: such a request cannot be sent again.
    had_body: AtomicBool,
}

impl ExchangeState {
    /// Returns the cause of an error that hyper reports.
    pub(crate) fn explain(&self, error: &hyper::Error) -> SendError {
        if let Some(cause) = self.cause.get() {
            return cause.clone();
        }
        if error.is_parse_too_large() {
            SendError::TooLarge { what: MessagePart::ResponseHead, limit: crate::headers::HEAD }
        } else if error.is_parse() {
            SendError::Protocol("it is not HTTP")
        } else {
            SendError::Closed
        }
    }

    /// Tests whether a byte of the body was sent.
    pub(crate) fn had_body(&self) -> bool {
        self.had_body.load(Ordering::Relaxed)
    }

    fn fail(&self, cause: SendError) -> Poll<Option<Result<Frame<Bytes>, SendError>>> {
        Poll::Ready(Some(Err(self.cause.get_or_init(|| cause).clone())))
    }
}

/// Limits of a request's body.
#[derive(Clone, Copy)]
pub(crate) struct UploadLimits {
    /// Bytes at most.
    pub limit: usize,
    /// Length that `content-length` declares.
    pub declared: Option<u64>,
    /// Deadline of the exchange.
    pub end: Instant,
}

/// A request's body that hyper reads from.
pub(crate) struct UploadBody {
    inner: BodyIn,
    bounds: UploadLimits,
    sent: u64,
    exchange: Arc<ExchangeState>,
    end: Pin<Box<Sleep>>,
}

impl UploadBody {
    pub(crate) fn new(inner: BodyIn, bounds: UploadLimits, exchange: Arc<ExchangeState>) -> Self {
        Self { inner, bounds, sent: 0, exchange, end: Box::pin(sleep_until(bounds.end)) }
    }

    fn ended(&self) -> Poll<Option<Result<Frame<Bytes>, SendError>>> {
        match self.bounds.declared {
            Some(declared) if declared != self.sent => self.exchange.fail(SendError::Body),
            _ => Poll::Ready(None),
        }
    }
}

impl Body for UploadBody {
    type Data = Bytes;
    type Error = SendError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, SendError>>> {
        if self.end.as_mut().poll(cx).is_ready() {
            return self.exchange.fail(SendError::Timeout(ExchangePhase::Total));
        }
        let data = match Pin::new(&mut self.inner).poll_frame(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(None) => return self.ended(),
            Poll::Ready(Some(Err(_))) => return self.exchange.fail(SendError::Body),
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => data,
                // Trailers are dropped: no known server reads those of a request.
                Err(_) => return self.ended(),
            },
        };
        self.exchange.had_body.store(true, Ordering::Relaxed);
        self.sent += data.remaining() as u64;
        if self.sent > self.bounds.limit as u64 {
            let limit = self.bounds.limit;
            return self.exchange.fail(SendError::TooLarge { what: MessagePart::Request, limit });
        }
        // Bytes beyond the declared length would begin another request on the connection.
        if self.bounds.declared.is_some_and(|declared| self.sent > declared) {
            return self.exchange.fail(SendError::Body);
        }
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream() && self.bounds.declared.unwrap_or(0) == self.sent
    }

    fn size_hint(&self) -> SizeHint {
        match self.bounds.declared {
            Some(declared) => SizeHint::with_exact(declared.saturating_sub(self.sent)),
            None => self.inner.size_hint(),
        }
    }
}
