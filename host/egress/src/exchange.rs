//! One exchange: permit, connection, request, redirects, response.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, Uri, header, request::Parts};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Incoming};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, timeout_at},
};

use crate::{
    BodyIn, BodyOut, RequestRefusal, SendError, SendTimeouts, attach,
    body::{ExchangeState, UploadBody, UploadLimits},
    call_state::{LONGEST, SendCallState},
    destination::RequestTarget,
    download::{ConnectionLease, DownloadBody, DownloadTerms, OpenDownload},
    error::{ExchangePhase, MessagePart},
    headers,
    redact::SecretPatterns,
    redirect,
};

/// State shared by all hops of an exchange.
pub(crate) struct ExchangeJob {
    pub call: Arc<SendCallState>,
    pub timeouts: SendTimeouts,
    pub end: Instant,
}

/// A response whose head was read.
struct Answer {
    response: Response<Incoming>,
    lease: ConnectionLease,
    exchange: Arc<ExchangeState>,
    secrets: Option<Arc<SecretPatterns>>,
}

/// Sends an admitted request and follows its redirects.
pub(crate) async fn run(
    job: ExchangeJob,
    mut to: RequestTarget,
    mut parts: Parts,
    body: BodyIn,
) -> Result<Response<BodyOut>, SendError> {
    let waiting = timeout_at(job.end, job.call.running.clone().acquire_owned()).await;
    let permit =
        waiting.map_err(|_| SendError::Timeout(ExchangePhase::Queue))?.map_err(|_| SendError::Closed)?;
    let mut body = Some(body);
    let mut left = job.call.limits.redirects;
    loop {
        let body = body.take().unwrap_or_else(empty_body);
        let sending = job.send(&to, &parts, body);
        let answer =
            timeout_at(job.end, sending).await.map_err(|_| SendError::Timeout(ExchangePhase::Total))??;
        let location = match answer.response.headers().get(header::LOCATION) {
            Some(location) if left > 0 => location.as_bytes(),
            _ => return job.finish(answer, &parts, permit),
        };
        let status = answer.response.status();
        let Some(method) = redirect::next_method(status, &parts.method, answer.exchange.had_body()) else {
            return job.finish(answer, &parts, permit);
        };
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let (next, uri) = redirect::resolve(&to, path, location)?;
        left -= 1;
        parts = redirected(&parts, method, uri, next == to)?;
        if answer.response.body().is_end_stream() {
            answer.lease.settle();
        }
        job.call.check(&parts, &next).map_err(|error| match error {
            SendError::Denied(refusal) => RequestRefusal::Redirect(Box::new(refusal)).into(),
            error => error,
        })?;
        to = next;
    }
}

fn empty_body() -> BodyIn {
    Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync()
}

/// Builds the request after a redirect: without a body and, for another host, without the guest's credentials.
fn redirected(parts: &Parts, method: http::Method, uri: Uri, same: bool) -> Result<Parts, SendError> {
    let mut next = Request::builder()
        .method(method)
        .uri(uri)
        .body(())
        .map_err(|_| SendError::Protocol("it redirects to an invalid URL"))?
        .into_parts()
        .0;
    next.headers = parts.headers.clone();
    for name in [header::HOST, header::CONTENT_LENGTH, header::CONTENT_TYPE, header::CONTENT_ENCODING] {
        next.headers.remove(name);
    }
    if !same {
        next.headers.remove(header::AUTHORIZATION);
        next.headers.remove(header::COOKIE);
    }
    Ok(next)
}

impl ExchangeJob {
    /// Sends one request and reads the head of its response.
    async fn send(&self, to: &RequestTarget, parts: &Parts, body: BodyIn) -> Result<Answer, SendError> {
        let network = &self.call.network;
        let declared = headers::content_length(&parts.headers)?;
        let headers = self.headers(&parts.headers, to).await?;
        let exchange = Arc::new(ExchangeState::default());
        let bounds = UploadLimits { limit: self.call.limits.request, declared, end: self.end };
        let mut request = Request::new(UploadBody::new(body, bounds, exchange.clone()));
        *request.method_mut() = parts.method.clone();
        *request.uri_mut() = request_path(&parts.uri)?;
        *request.headers_mut() = headers;

        let mut kept = network.pool.take(to);
        let response = loop {
            let reused = kept.is_some();
            let mut sender = match kept.take() {
                Some(sender) => sender,
                None => network.connect(to, self.timeouts.connect).await?,
            };
            let sending = sender.try_send_request(request);
            let first_byte = self.timeouts.first_byte.map(|limit| Instant::now() + limit.min(LONGEST));
            let answer = match first_byte.filter(|first_byte| *first_byte < self.end) {
                Some(first_byte) => timeout_at(first_byte, sending)
                    .await
                    .map_err(|_| SendError::Timeout(ExchangePhase::FirstByte))?,
                // The deadline of the exchange comes first; the caller waits for it.
                None => sending.await,
            };
            match answer {
                Ok(response) => break (response, sender),
                // The host closed an idle connection; nothing of the request was sent.
                Err(mut error) => match error.take_message() {
                    Some(unsent) if reused => request = unsent,
                    _ => return Err(exchange.explain(error.error())),
                },
            }
        };
        let (mut response, sender) = response;
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            return Err(SendError::Protocol("it switches protocols unasked"));
        }
        // They contain the connection's addresses.
        response.extensions_mut().clear();
        // Including secrets that were read while the request was on its way.
        let secrets = network.known.patterns();
        if secrets.is_some() && headers::is_transfer_coded(response.headers()) {
            return Err(SendError::Encoded);
        }
        headers::drop_hop_by_hop(response.headers_mut());
        if let Some(secrets) = &secrets {
            // Before a redirect is followed, or it could carry a secret elsewhere.
            secrets.mask_headers(response.headers_mut());
        }
        let lease = ConnectionLease { network: network.clone(), to: to.clone(), sender };
        Ok(Answer { response, lease, exchange, secrets })
    }

    /// Merges the guest's headers, the host's, and the secrets.
    async fn headers(&self, guest: &HeaderMap, to: &RequestTarget) -> Result<HeaderMap, SendError> {
        let mut headers = guest.clone();
        headers::drop_hop_by_hop(&mut headers);
        headers::set_host_headers(&mut headers, to)?;
        let network = &self.call.network;
        attach::add_secrets(network, &mut headers, to).await?;
        Ok(headers)
    }

    /// Checks a response's head and passes it on with its body.
    fn finish(
        self,
        answer: Answer,
        parts: &Parts,
        permit: OwnedSemaphorePermit,
    ) -> Result<Response<BodyOut>, SendError> {
        let Answer { response, lease, exchange, secrets } = answer;
        let (head, body) = response.into_parts();
        let limit = self.call.limits.response;
        if body.size_hint().lower() > limit as u64 {
            return Err(SendError::TooLarge { what: MessagePart::Response, limit });
        }
        let plain = |value: &http::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
        let encoded = !head.headers.get_all(header::CONTENT_ENCODING).iter().all(plain);
        if secrets.is_some() && encoded && parts.method != http::Method::HEAD {
            return Err(SendError::Encoded);
        }
        // No longer than the exchange: a guest may set any time, even one that overflows the clock.
        let between = self.timeouts.between_bytes.map(|time| time.min(self.call.limits.time).min(LONGEST));
        let terms = DownloadTerms { limit, end: self.end, between, secrets };
        let open = OpenDownload { body, lease, exchange, permit };
        Ok(Response::from_parts(head, DownloadBody::new(open, terms).boxed_unsync()))
    }
}

/// Builds the path of a request's first line.
fn request_path(uri: &Uri) -> Result<Uri, SendError> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    // `https://host?query` has a query but no path.
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    path.parse().map_err(|_| RequestRefusal::Scheme.into())
}
