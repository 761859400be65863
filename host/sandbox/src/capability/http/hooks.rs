//! The hook through which wasmtime-wasi-http sends: our own egress.

use std::{future::Future, sync::Arc};

use http_body_util::BodyExt;
use loggia_egress::{
    CallEgress, CallerKey, EgressClient, EgressMode, HttpTape, RequestRefusal, RequestTarget, SendError,
    SendTicket, SendTimeouts,
};
use loggia_facade::trace::{ActiveSpan, ParentSpan, RequestPeer, begin_http, end_http};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use super::report::FailureReporter;
use crate::{call_log::CallLog, usage::UsageCounters};

/// Bytes that one write to a request's body may have. The host keeps two such pieces of each body, also of requests
/// that are never sent, which no limit of memory counts.
const PIECE: usize = 16 << 10;

/// Source of the egress of one call.
pub(crate) struct CallSource {
    pub client: EgressClient,
    pub caller: Option<CallerKey>,
    pub mode: EgressMode,
    /// Answers or keeps its requests, if anything does.
    pub tape: Option<Arc<dyn HttpTape>>,
    /// Name of the facade, for messages.
    pub facade: Arc<str>,
}

/// Sends the requests of one call.
#[derive(Default)]
pub(super) struct SendHooks {
    /// None where nothing is granted.
    egress: Option<CallSource>,
    /// Made by the first request.
    call: Option<CallEgress>,
    reporter: FailureReporter,
    /// Counters of the facade's requests.
    usage: Option<Arc<UsageCounters>>,
    /// Span of the guest.
    span: ParentSpan,
}

/// A response, and a future that drives its connection: an empty one, since the egress drives connections itself.
type Sent = Result<(http::Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>), Error>;

impl SendHooks {
    pub(super) fn new(
        egress: Option<CallSource>,
        log: &CallLog,
        usage: &Arc<UsageCounters>,
        span: &ParentSpan,
    ) -> Self {
        let reporter = FailureReporter::new(log, egress.as_ref().map(|source| source.facade.clone()));
        Self { egress, call: None, reporter, usage: Some(Arc::clone(usage)), span: span.clone() }
    }

    pub(super) fn explain_failure(&self, code: &str) -> Option<String> {
        self.reporter.explain_failure(code)
    }

    fn admit(&mut self, parts: &http::request::Parts) -> Result<SendTicket, Error> {
        self.reporter.enable_hints();
        let admitted = match &self.egress {
            Some(CallSource { client, caller, mode, tape, .. }) => {
                self.call.get_or_insert_with(|| client.call_for(*caller, *mode, tape.clone())).admit(parts)
            }
            None => Err(refuse(parts)),
        };
        admitted.map_err(|error| {
            self.usage.iter().for_each(|usage| usage.count_request::<()>(&Err(error.clone())));
            end_http(begin_http(&self.span, parts.method.as_str(), || None), Err(error.kind()));
            self.reporter.report(&error)
        })
    }

    /// Begins the span of an admitted request.
    fn begin_span(&self, parts: &http::request::Parts) -> ActiveSpan {
        begin_http(&self.span, parts.method.as_str(), || {
            let RequestTarget { scheme, host, port } = RequestTarget::parse(&parts.uri).ok()?;
            Some(RequestPeer { scheme: scheme.to_string(), host: host.to_string(), port })
        })
    }
}

impl Drop for SendHooks {
    /// Ends all requests at once: the store would drop them one after another, and each would make room for the next.
    fn drop(&mut self) {
        if let Some(call) = &self.call {
            call.end();
        }
    }
}

impl WasiHttpHooks for SendHooks {
    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        PIECE
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Sent> + Send> {
        let (parts, body) = request.into_parts();
        let ticket = match self.admit(&parts) {
            Ok(ticket) => ticket,
            Err(refused) => {
                // The body is kept until the guest learns of the refusal. Dropped now, the guest's write would fail
                // first, and not say why.
                return Box::new(async move {
                    let _body = body;
                    Err(refused)
                });
            }
        };
        let body = body.map_err(|error| error.to_string().into()).boxed_unsync();
        let options = options.unwrap_or_default();
        let timeouts = SendTimeouts {
            connect: options.connect_timeout,
            first_byte: options.first_byte_timeout,
            between_bytes: options.between_bytes_timeout,
        };
        let (reporter, usage, span) = (self.reporter.clone(), self.usage.clone(), self.begin_span(&parts));
        let sending = ticket.send(http::Request::from_parts(parts, body), timeouts);
        Box::new(async move {
            let sent = sending.await;
            usage.iter().for_each(|usage| usage.count_request(&sent));
            end_http(span, sent.as_ref().map(|response| response.status().as_u16()).map_err(SendError::kind));
            let response = sent.map_err(|error| reporter.report(&error))?;
            let body = move |body: loggia_egress::BodyOut| {
                body.map_err(move |error| reporter.report(&error)).boxed_unsync()
            };
            let driver: Box<dyn Future<Output = Result<(), Error>> + Send> = Box::new(async { Ok(()) });
            Ok((response.map(body), driver))
        })
    }
}

/// The refusal where nothing is granted.
fn refuse(parts: &http::request::Parts) -> SendError {
    let refusal = match RequestTarget::parse(&parts.uri) {
        Ok(to) => RequestRefusal::Destination { to: to.to_string(), near: None },
        Err(refusal) => refusal,
    };
    refusal.into()
}
