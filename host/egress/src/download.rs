//! Response bodies: counted, timed, redacted; and the connection's return to the pool.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, Sleep, sleep, sleep_until, timeout},
};

use crate::{
    SendError,
    body::ExchangeState,
    connect::PluginNetwork,
    destination::RequestTarget,
    error::{MessagePart, ExchangePhase},
    pool::RequestSender,
    redact::{SecretPatterns, StreamRedactor},
};

/// Longest time that a connection takes to become ready again after a complete response.
const SETTLE: Duration = Duration::from_secs(1);

/// A connection in use.
pub(crate) struct ConnectionLease {
    pub network: Arc<PluginNetwork>,
    pub to: RequestTarget,
    pub sender: RequestSender,
}

impl ConnectionLease {
    /// Returns the connection to the pool, after its response is complete.
    pub(crate) fn settle(mut self) {
        let runtime = self.network.runtime();
        if self.sender.is_ready() {
            self.network.pool.put(self.to, self.sender, &runtime);
            return;
        }
        let spawner = runtime.clone();
        spawner.spawn(async move {
            if let Ok(Ok(())) = timeout(SETTLE, self.sender.ready()).await {
                self.network.pool.put(self.to, self.sender, &runtime);
            }
        });
    }
}

/// A response's body. Dropping it before its end closes the connection.
pub(crate) struct DownloadBody {
    /// None after the end or a failure.
    open: Option<OpenDownload>,
    /// Passed on at the end, after the bytes that were held back.
    trailers: Option<HeaderMap>,
    left: usize,
    limit: usize,
    redactor: Option<(StreamRedactor, Arc<SecretPatterns>)>,
    end: Pin<Box<Sleep>>,
    between: Option<(Duration, Pin<Box<Sleep>>)>,
}

/// Resources that are released at the end: the connection, and the permit of a running request.
pub(crate) struct OpenDownload {
    pub body: Incoming,
    pub lease: ConnectionLease,
    pub exchange: Arc<ExchangeState>,
    pub permit: OwnedSemaphorePermit,
}

/// Limits of a response's body, and the secrets to redact.
pub(crate) struct DownloadTerms {
    pub limit: usize,
    pub end: Instant,
    pub between: Option<Duration>,
    pub secrets: Option<Arc<SecretPatterns>>,
}

type Next = Poll<Option<Result<Frame<Bytes>, SendError>>>;

impl DownloadBody {
    pub(crate) fn new(open: OpenDownload, terms: DownloadTerms) -> Self {
        let mut download = Self {
            open: Some(open),
            trailers: None,
            left: terms.limit,
            limit: terms.limit,
            redactor: terms.secrets.map(|patterns| (StreamRedactor::new(patterns.clone()), patterns)),
            end: Box::pin(sleep_until(terms.end)),
            between: terms.between.map(|between| (between, Box::pin(sleep(between)))),
        };
        download.finish_if_ended();
        download
    }

    /// Releases the connection of a body that is complete: a guest that knows its length does not ask for the end.
    fn finish_if_ended(&mut self) {
        if self.open.as_ref().is_some_and(|open| open.body.is_end_stream()) {
            self.finish();
        }
    }

    fn finish(&mut self) {
        if let Some(open) = self.open.take() {
            drop(open.body);
            drop(open.permit);
            open.lease.settle();
        }
    }

    fn fail(&mut self, error: SendError) -> Next {
        self.open = None;
        // The bytes held back may be the first half of a secret.
        self.redactor = None;
        self.trailers = None;
        Poll::Ready(Some(Err(error)))
    }

    fn take(&mut self, data: Bytes) -> Result<Bytes, SendError> {
        let limit = self.limit;
        self.left =
            self.left.checked_sub(data.len()).ok_or(SendError::TooLarge { what: MessagePart::Response, limit })?;
        Ok(match &mut self.redactor {
            Some((redactor, _)) => redactor.feed(&data),
            None => data,
        })
    }

    /// Returns the bytes held back, then the trailers.
    fn rest(&mut self) -> Next {
        if let Some((mut redactor, patterns)) = self.redactor.take() {
            if let Some(trailers) = &mut self.trailers {
                patterns.mask_headers(trailers);
            }
            let held = redactor.end();
            if !held.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(held))));
            }
        }
        Poll::Ready(self.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))))
    }
}

impl Body for DownloadBody {
    type Data = Bytes;
    type Error = SendError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Next {
        let this = &mut *self;
        loop {
            let Some(open) = &mut this.open else { return this.rest() };
            if this.end.as_mut().poll(cx).is_ready() {
                return this.fail(SendError::Timeout(ExchangePhase::Total));
            }
            let frame = match Pin::new(&mut open.body).poll_frame(cx) {
                Poll::Ready(frame) => frame,
                Poll::Pending => {
                    let waited =
                        this.between.as_mut().is_some_and(|(_, pause)| pause.as_mut().poll(cx).is_ready());
                    return if waited {
                        this.fail(SendError::Timeout(ExchangePhase::BetweenBytes))
                    } else {
                        Poll::Pending
                    };
                }
            };
            if let Some((between, pause)) = &mut this.between {
                pause.as_mut().reset(Instant::now() + *between);
            }
            match frame {
                None => this.finish(),
                Some(Err(error)) => {
                    let error = open.exchange.explain(&error);
                    return this.fail(error);
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        let data = match this.take(data) {
                            Ok(data) => data,
                            Err(error) => return this.fail(error),
                        };
                        this.finish_if_ended();
                        if !data.is_empty() {
                            return Poll::Ready(Some(Ok(Frame::data(data))));
                        }
                    }
                    Err(frame) => this.trailers = frame.into_trailers().ok(),
                },
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.open.is_none()
            && self.trailers.is_none()
            && self.redactor.as_ref().is_none_or(|(r, _)| r.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        let held = self.redactor.as_ref().map_or(0, |(redactor, _)| redactor.held()) as u64;
        let inner = self.open.as_ref().map_or(SizeHint::with_exact(0), |open| open.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + held);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + held);
        }
        hint
    }
}
