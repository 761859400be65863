//! Concurrent requests through `wasi:http` without threads: each is a state machine that runs until it has to wait for
//! a pollable.

use std::time::{Duration, Instant};

use wasip2::{
    clocks::monotonic_clock::subscribe_duration,
    http::{
        outgoing_handler::handle,
        types::{
            ErrorCode, Fields, FutureIncomingResponse, IncomingBody, Method, OutgoingBody, OutgoingRequest,
            RequestOptions, Scheme,
        },
    },
    io::{
        poll::{Pollable, poll},
        streams::{InputStream, OutputStream, StreamError},
    },
};

use super::{AT_ONCE, Prepared, Response, Url, trouble::Trouble};
use crate::{Failure, Result};

/// Bytes read at once.
const CHUNK: u64 = 64 << 10;

/// Sends all requests, with a limit on concurrent ones.
pub(super) fn send_all(requests: Vec<Prepared>) -> Vec<Result<Response>> {
    let mut answers: Vec<Option<Result<Response>>> = Vec::new();
    answers.resize_with(requests.len(), || None);
    let mut waiting = requests.into_iter().enumerate();
    let mut under_way: Vec<(usize, Exchange)> = Vec::new();
    loop {
        while under_way.len() < AT_ONCE {
            let Some((at, prepared)) = waiting.next() else { break };
            match Exchange::begin(prepared) {
                Ok(exchange) => under_way.push((at, exchange)),
                Err(failure) => answers[at] = Some(Err(failure)),
            }
        }
        if under_way.is_empty() {
            let lost = || Err(Failure::internal("the host gave no answer"));
            return answers.into_iter().map(|answer| answer.unwrap_or_else(lost)).collect();
        }
        let mut still = Vec::with_capacity(under_way.len());
        for (at, exchange) in under_way {
            match exchange.go_on() {
                Step::Waits(exchange) => still.push((at, exchange)),
                Step::Ends(answer) => answers[at] = Some(answer),
            }
        }
        under_way = still;
        if under_way.len() == AT_ONCE || (!under_way.is_empty() && waiting.len() == 0) {
            wait(&under_way);
        }
    }
}

/// Waits until one of them can continue, or its time is over.
fn wait(under_way: &[(usize, Exchange)]) {
    let mut pollables: Vec<Pollable> =
        under_way.iter().map(|(_, exchange)| exchange.stage.pollable()).collect();
    if let Some(time) = under_way.iter().filter_map(|(_, exchange)| exchange.time_left()).min() {
        pollables.push(subscribe_duration(nanos(time)));
    }
    let pollables: Vec<&Pollable> = pollables.iter().collect();
    poll(&pollables);
}

/// One request and its response.
struct Exchange {
    method: String,
    url: Url,
    deadline: Option<Instant>,
    response: Response,
    stage: Stage,
}

/// Progress of an exchange. The fields are in the order in which WASI requires them to be dropped: a stream before its
/// parent.
enum Stage {
    Writing {
        stream: OutputStream,
        body: OutgoingBody,
        left: Vec<u8>,
        at: usize,
        future: FutureIncomingResponse,
    },
    Awaiting(FutureIncomingResponse),
    Reading {
        stream: InputStream,
        body: IncomingBody,
    },
}

impl Stage {
    fn pollable(&self) -> Pollable {
        match self {
            Self::Writing { stream, .. } => stream.subscribe(),
            Self::Awaiting(future) => future.subscribe(),
            Self::Reading { stream, .. } => stream.subscribe(),
        }
    }
}

enum Step {
    Waits(Exchange),
    Ends(Result<Response>),
}

impl Exchange {
    fn begin(prepared: Prepared) -> Result<Self> {
        let Prepared { request, url } = prepared;
        let invalid = |why: &str| Trouble::Invalid(why).failure(&request.method, &url);
        let fields = Fields::new();
        for (name, value) in &request.headers {
            if fields.append(name, value.as_bytes()).is_err() {
                return Err(invalid(&format!(
                    "the header `{name}` is not valid, or not the plugin's to set"
                )));
            }
        }
        let length = request.body.len();
        if length > 0 {
            // Without it the body would go in chunks, which some servers do not take.
            let _told = fields.set("content-length", &[length.to_string().into_bytes()]);
        }
        let outgoing = OutgoingRequest::new(fields);
        let scheme = if url.https { Scheme::Https } else { Scheme::Http };
        outgoing
            .set_method(&method(&request.method))
            .and_then(|()| outgoing.set_scheme(Some(&scheme)))
            .and_then(|()| outgoing.set_authority(Some(&url.authority)))
            .and_then(|()| outgoing.set_path_with_query(Some(&url.path)))
            .map_err(|()| invalid("its method or its URL is not valid"))?;
        let body = if length > 0 { outgoing.body().ok() } else { None };
        let options = request.timeout.and_then(|time| {
            let options = RequestOptions::new();
            options.set_connect_timeout(Some(nanos(time))).ok()?;
            options.set_first_byte_timeout(Some(nanos(time))).ok()?;
            options.set_between_bytes_timeout(Some(nanos(time))).ok()?;
            Some(options)
        });
        let future = handle(outgoing, options).map_err(|error| failure(&error, &request.method, &url))?;
        let stage = match body.map(|body| (body.write(), body)) {
            Some((Ok(stream), body)) => Stage::Writing { stream, body, left: request.body, at: 0, future },
            _ => Stage::Awaiting(future),
        };
        let deadline = request.timeout.and_then(|time| Instant::now().checked_add(time));
        let response = Response::new(0).of(&url);
        Ok(Self { method: request.method, url, deadline, response, stage })
    }

    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Runs until it has to wait.
    fn go_on(mut self) -> Step {
        loop {
            let next = match self.stage {
                Stage::Writing { stream, body, left, at, future } => write(stream, body, left, at, future),
                Stage::Awaiting(future) => answered(future, &mut self.response),
                Stage::Reading { stream, body } => read(body, stream, &mut self.response),
            };
            match next {
                Next::Goes(stage) => self.stage = stage,
                Next::Waits(stage) => {
                    self.stage = stage;
                    return match self.time_left() {
                        Some(Duration::ZERO) => {
                            Step::Ends(Err(Trouble::TimedOut.failure(&self.method, &self.url)))
                        }
                        _ => Step::Waits(self),
                    };
                }
                Next::Done => return Step::Ends(Ok(self.response)),
                Next::Fails(error) => return Step::Ends(Err(failure(&error, &self.method, &self.url))),
            }
        }
    }
}

enum Next {
    Goes(Stage),
    Waits(Stage),
    Done,
    Fails(ErrorCode),
}

fn write(
    stream: OutputStream,
    body: OutgoingBody,
    left: Vec<u8>,
    at: usize,
    future: FutureIncomingResponse,
) -> Next {
    let rest = left.get(at..).unwrap_or_default();
    match stream.check_write() {
        _ if rest.is_empty() => {}
        Ok(0) => return Next::Waits(Stage::Writing { stream, body, left, at, future }),
        Ok(room) => {
            let many = usize::try_from(room).unwrap_or(usize::MAX).min(rest.len());
            if stream.write(&rest[..many]).is_ok() {
                return Next::Goes(Stage::Writing { stream, body, left, at: at + many, future });
            }
        }
        // The host rejects the rest; the response has the reason.
        Err(_) => {}
    }
    drop(stream);
    // Fails if part of the body was rejected; again, the response has the reason.
    let _finished = OutgoingBody::finish(body, None);
    Next::Goes(Stage::Awaiting(future))
}

fn answered(future: FutureIncomingResponse, response: &mut Response) -> Next {
    let incoming = match future.get() {
        None => return Next::Waits(Stage::Awaiting(future)),
        Some(Ok(Ok(incoming))) => incoming,
        Some(Ok(Err(error))) => return Next::Fails(error),
        Some(Err(())) => return Next::Fails(ErrorCode::InternalError(None)),
    };
    response.status = incoming.status();
    let header = |(name, value): (String, Vec<u8>)| {
        (name.to_ascii_lowercase(), String::from_utf8_lossy(&value).into_owned())
    };
    response.headers = incoming.headers().entries().into_iter().map(header).collect();
    let Ok(body) = incoming.consume() else { return Next::Done };
    match body.stream() {
        Ok(stream) => Next::Goes(Stage::Reading { stream, body }),
        Err(()) => Next::Done,
    }
}

/// Arguments are dropped last to first: the stream before its body.
fn read(body: IncomingBody, stream: InputStream, response: &mut Response) -> Next {
    match stream.read(CHUNK) {
        Ok(bytes) if bytes.is_empty() => Next::Waits(Stage::Reading { stream, body }),
        Ok(bytes) => {
            response.body.extend(bytes);
            Next::Goes(Stage::Reading { stream, body })
        }
        Err(StreamError::Closed) => Next::Done,
        Err(StreamError::LastOperationFailed(error)) => {
            let code = wasip2::http::types::http_error_code(&error);
            Next::Fails(code.unwrap_or(ErrorCode::HttpResponseIncomplete))
        }
    }
}

fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "OPTIONS" => Method::Options,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn failure(error: &ErrorCode, method: &str, url: &Url) -> Failure {
    let trouble = match error {
        ErrorCode::HttpRequestDenied => Trouble::Denied,
        ErrorCode::DestinationIpProhibited => Trouble::Private,
        ErrorCode::DnsTimeout
        | ErrorCode::ConnectionTimeout
        | ErrorCode::ConnectionReadTimeout
        | ErrorCode::ConnectionWriteTimeout
        | ErrorCode::HttpResponseTimeout => Trouble::TimedOut,
        ErrorCode::DnsError(_) | ErrorCode::DestinationNotFound => {
            Trouble::Unreachable("its name is not known")
        }
        ErrorCode::TlsProtocolError | ErrorCode::TlsCertificateError | ErrorCode::TlsAlertReceived(_) => {
            Trouble::Unreachable("there is no secure connection to it")
        }
        ErrorCode::ConnectionRefused => Trouble::Unreachable("it refuses the connection"),
        ErrorCode::ConnectionTerminated | ErrorCode::HttpResponseIncomplete => {
            Trouble::Unreachable("the connection was aborted")
        }
        ErrorCode::ConnectionLimitReached => Trouble::Unreachable(
            "this call has sent all the requests that `limits.http-requests` lets it send",
        ),
        ErrorCode::HttpRequestBodySize(_) => Trouble::TooLarge("request"),
        ErrorCode::HttpResponseBodySize(_)
        | ErrorCode::HttpResponseHeaderSectionSize(_)
        | ErrorCode::HttpResponseHeaderSize(_) => Trouble::TooLarge("response"),
        ErrorCode::HttpRequestMethodInvalid
        | ErrorCode::HttpRequestUriInvalid
        | ErrorCode::HttpRequestUriTooLong
        | ErrorCode::HttpRequestHeaderSectionSize(_)
        | ErrorCode::HttpRequestHeaderSize(_) => {
            Trouble::Invalid("its method, its URL or a header is not valid")
        }
        ErrorCode::InternalError(Some(why)) => Trouble::Unreachable(why),
        _ => Trouble::Unreachable("it does not answer as a server should"),
    };
    let mut failure = trouble.failure(method, url);
    if matches!(trouble, Trouble::Denied | Trouble::Private) {
        // The host knows the rule, and adds its own hint if there is none.
        failure.hint = None;
    }
    failure
}
