//! One exchange: a place among those that run at once, a connection, the request, its redirects, the response.

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
    BodyIn, BodyOut, Refusal, SendError, Timeouts, attach,
    body::{Bounds, Exchange, Upload},
    call_state::{CallState, LONGEST},
    destination::Target,
    download::{Download, Lease, Open, Terms},
    error::{Part, Phase},
    headers,
    redact::Patterns,
    redirect,
};

/// What all hops of an exchange share.
pub(crate) struct Job {
    pub call: Arc<CallState>,
    pub timeouts: Timeouts,
    pub end: Instant,
}

/// The head of a response, before its body is passed on.
struct Answer {
    response: Response<Incoming>,
    lease: Lease,
    exchange: Arc<Exchange>,
    secrets: Option<Arc<Patterns>>,
}

/// Sends an admitted request and follows its redirects.
pub(crate) async fn run(
    job: Job,
    mut to: Target,
    mut parts: Parts,
    body: BodyIn,
) -> Result<Response<BodyOut>, SendError> {
    let waiting = timeout_at(job.end, job.call.running.clone().acquire_owned()).await;
    let permit = waiting.map_err(|_| SendError::Timeout(Phase::Queue))?.map_err(|_| SendError::Closed)?;
    let mut body = Some(body);
    let mut left = job.call.limits.redirects;
    loop {
        let body = body.take().unwrap_or_else(none);
        let sending = job.send(&to, &parts, body);
        let answer = timeout_at(job.end, sending).await.map_err(|_| SendError::Timeout(Phase::Total))??;
        let location = match answer.response.headers().get(header::LOCATION) {
            Some(location) if left > 0 => location.as_bytes(),
            _ => return job.finish(answer, &parts, permit),
        };
        let status = answer.response.status();
        let Some(method) = redirect::method(status, &parts.method, answer.exchange.had_body()) else {
            return job.finish(answer, &parts, permit);
        };
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let (next, uri) = redirect::resolve(&to, path, location)?;
        left -= 1;
        parts = hop(&parts, method, uri, next == to)?;
        if answer.response.body().is_end_stream() {
            answer.lease.settle();
        }
        job.call.check(&parts, &next).map_err(|error| match error {
            SendError::Denied(refusal) => Refusal::Redirect(Box::new(refusal)).into(),
            error => error,
        })?;
        to = next;
    }
}

fn none() -> BodyIn {
    Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync()
}

/// The request after a redirect: without a body, and elsewhere without what the guest meant for the first host.
fn hop(parts: &Parts, method: http::Method, uri: Uri, same: bool) -> Result<Parts, SendError> {
    let mut next = Request::builder()
        .method(method)
        .uri(uri)
        .body(())
        .map_err(|_| SendError::Protocol("it redirects to what is no URL"))?
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

impl Job {
    /// Sends one request and reads the head of its response.
    async fn send(&self, to: &Target, parts: &Parts, body: BodyIn) -> Result<Answer, SendError> {
        let network = &self.call.network;
        let declared = headers::length(&parts.headers)?;
        let headers = self.headers(&parts.headers, to).await?;
        let exchange = Arc::new(Exchange::default());
        let bounds = Bounds { limit: self.call.limits.request, declared, end: self.end };
        let mut request = Request::new(Upload::new(body, bounds, exchange.clone()));
        *request.method_mut() = parts.method.clone();
        *request.uri_mut() = path(&parts.uri)?;
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
                Some(first_byte) => {
                    timeout_at(first_byte, sending).await.map_err(|_| SendError::Timeout(Phase::FirstByte))?
                }
                // The whole exchange's end comes first, and is waited for outside.
                None => sending.await,
            };
            match answer {
                Ok(response) => break (response, sender),
                // The host closed a waiting connection; nothing of the request was sent.
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
        // The connection's addresses are among them.
        response.extensions_mut().clear();
        // Those that were read while it was on its way are among them.
        let secrets = network.known.patterns();
        if secrets.is_some() && headers::is_transfer_coded(response.headers()) {
            return Err(SendError::Encoded);
        }
        headers::drop_hop(response.headers_mut());
        if let Some(secrets) = &secrets {
            // Before a redirect is followed, or it could carry a secret elsewhere.
            secrets.mask_headers(response.headers_mut());
        }
        let lease = Lease { network: network.clone(), to: to.clone(), sender };
        Ok(Answer { response, lease, exchange, secrets })
    }

    /// The guest's headers, the host's, and the secrets.
    async fn headers(&self, guest: &HeaderMap, to: &Target) -> Result<HeaderMap, SendError> {
        let mut headers = guest.clone();
        headers::drop_hop(&mut headers);
        headers::complete(&mut headers, to)?;
        let network = &self.call.network;
        attach::add_secrets(&network.grants, &network.known, &mut headers, to).await?;
        Ok(headers)
    }

    /// Passes a response on.
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
            return Err(SendError::TooLarge { what: Part::Response, limit });
        }
        let plain = |value: &http::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
        let encoded = !head.headers.get_all(header::CONTENT_ENCODING).iter().all(plain);
        if secrets.is_some() && encoded && parts.method != http::Method::HEAD {
            return Err(SendError::Encoded);
        }
        // No longer than the exchange: a guest may name any time, even one that no clock can hold.
        let between = self.timeouts.between_bytes.map(|time| time.min(self.call.limits.time).min(LONGEST));
        let terms = Terms { limit, end: self.end, between, secrets };
        let open = Open { body, lease, exchange, permit };
        Ok(Response::from_parts(head, Download::new(open, terms).boxed_unsync()))
    }
}

/// What the first line of a request holds.
fn path(uri: &Uri) -> Result<Uri, SendError> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    // `https://host?query` has a query but no path.
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    path.parse().map_err(|_| Refusal::Scheme.into())
}
