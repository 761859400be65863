//! Requests over HTTP: `wasi:http` in front of our own egress.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use http_body_util::BodyExt;
use loggia_egress::{CallEgress, Client, Grants, Mode, Part, Phase, Refusal, SendError, Target, Timeouts};
use loggia_facade::{Effect, Level};
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks};

mod names;
mod trouble;

use crate::{guest::Guest, limits::Limits, output::Output, used::Used};

/// Bytes of the headers of a request or response, as they are held in memory.
const FIELDS: usize = 64 << 10;

/// Bytes that one write to a request's body may have. The host keeps two such pieces of each body, also of requests
/// that are never sent, which no limit of memory counts.
const PIECE: usize = 16 << 10;

/// The interface with types, as wasmtime-wasi-http links it. Some of its functions have our own in their place.
const TYPES: &str = "wasi:http/types@0.2.12";

/// Links `wasi:http`.
pub(super) fn init(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    names::init(linker)?;
    trouble::init(linker)
}

/// What all calls of a facade send through; none where nothing is granted.
pub(super) fn configure(grants: &Grants, limits: &Limits) -> Option<Client> {
    (!grants.rules.is_empty()).then(|| Client::new(grants.clone(), limits.http.clone()))
}

/// What one call may send.
#[derive(Default)]
pub(crate) struct Http {
    wasi: WasiHttpCtx,
    hooks: Hooks,
}

impl Http {
    pub(super) fn prepare(
        client: Option<&Client>,
        effect: Effect,
        output: &Output,
        used: &Arc<Used>,
    ) -> Self {
        let mut wasi = WasiHttpCtx::new();
        wasi.set_field_size_limit(FIELDS);
        let mode = if effect == Effect::Read { Mode::Reads } else { Mode::Writes };
        let egress = client.map(|client| (client.clone(), mode));
        Self {
            wasi,
            hooks: Hooks {
                egress,
                call: None,
                words: Words { output: Some(output.clone()), unsaid: None },
                used: Some(Arc::clone(used)),
            },
        }
    }

    pub(crate) fn view<'a>(&'a mut self, table: &'a mut ResourceTable) -> WasiHttpCtxView<'a> {
        WasiHttpCtxView { hooks: &mut self.hooks, table, ctx: &mut self.wasi }
    }

    /// Why the last request failed that failed with this code: the guest sees a word of a list, and neither what would
    /// grant the request nor which limit it ran into.
    pub(crate) fn unsaid(&self, code: &str) -> Option<String> {
        lock(self.hooks.words.unsaid.as_ref()?).get(code).cloned()
    }
}

#[derive(Default)]
struct Hooks {
    egress: Option<(Client, Mode)>,
    /// Made by the first request.
    call: Option<CallEgress>,
    words: Words,
    /// Where requests are counted.
    used: Option<Arc<Used>>,
}

impl Drop for Hooks {
    /// A store drops its requests one after another.
    fn drop(&mut self) {
        if let Some(call) = &self.call {
            call.end();
        }
    }
}

/// What is said of a request that fails, beside what the guest sees.
#[derive(Clone, Default)]
struct Words {
    /// For what the operator should know.
    output: Option<Output>,
    /// Hints for who called, by the code that the guest makes of the failure. Made by the first request.
    unsaid: Option<Arc<Mutex<Unsaid>>>,
}

type Unsaid = BTreeMap<&'static str, String>;

fn lock(unsaid: &Mutex<Unsaid>) -> std::sync::MutexGuard<'_, Unsaid> {
    unsaid.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An answer, and what is to be run for its connection: nothing, since the egress does that itself.
type Sent = Result<(http::Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>), Error>;

impl WasiHttpHooks for Hooks {
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
                // The body is held until the guest is told: were it dropped now, the guest would see that its writing
                // fails, and not why.
                return Box::new(async move {
                    let _body = body;
                    Err(refused)
                });
            }
        };
        let body = body.map_err(|error| error.to_string().into()).boxed_unsync();
        let options = options.unwrap_or_default();
        let timeouts = Timeouts {
            connect: options.connect_timeout,
            first_byte: options.first_byte_timeout,
            between_bytes: options.between_bytes_timeout,
        };
        let (words, used) = (self.words.clone(), self.used.clone());
        let sending = ticket.send(http::Request::from_parts(parts, body), timeouts);
        Box::new(async move {
            let sent = sending.await;
            used.iter().for_each(|used| used.sent(&sent));
            let response = sent.map_err(|error| words.fail(&error))?;
            let body = move |body: loggia_egress::BodyOut| {
                body.map_err(move |error| words.fail(&error)).boxed_unsync()
            };
            let nothing: Box<dyn Future<Output = Result<(), Error>> + Send> = Box::new(async { Ok(()) });
            Ok((response.map(body), nothing))
        })
    }
}

impl Hooks {
    fn admit(&mut self, parts: &http::request::Parts) -> Result<loggia_egress::Ticket, Error> {
        self.words.unsaid.get_or_insert_default();
        let admitted = match &self.egress {
            Some((client, mode)) => self.call.get_or_insert_with(|| client.call(*mode)).admit(parts),
            None => Err(refusal(parts)),
        };
        admitted.map_err(|error| {
            self.used.iter().for_each(|used| used.sent::<()>(&Err(error.clone())));
            self.words.fail(&error)
        })
    }
}

/// Where nothing is granted, nobody is asked.
fn refusal(parts: &http::request::Parts) -> SendError {
    let refusal = match Target::of(&parts.uri) {
        Ok(to) => Refusal::Destination { to: to.to_string(), near: None },
        Err(refusal) => refusal,
    };
    refusal.into()
}

impl Words {
    /// Tells the operator and who called, each what they can do about it; what the guest is told.
    fn fail(&self, error: &SendError) -> Error {
        if let Some(output) = &self.output {
            output.log(level(error), &format!("a request failed: {error}"));
        }
        if let (Some(unsaid), Some((code, hint))) = (&self.unsaid, hint(error)) {
            lock(unsaid).insert(code, hint);
        }
        told(error)
    }
}

/// What the operator may want to change is in the log.
fn level(error: &SendError) -> Level {
    match error {
        SendError::Denied(_) | SendError::TooMany(_) | SendError::TooLarge { .. } | SendError::Secret(_) => {
            Level::Warn
        }
        _ => Level::Debug,
    }
}

/// What the guest cannot know of a failure, with the code that it makes of it.
fn hint(error: &SendError) -> Option<(&'static str, String)> {
    let limit = |key| format!("{error}; the operator can raise `limits.{key}`");
    Some(match error {
        SendError::Denied(refusal) => ("denied", refusal.to_string()),
        SendError::TooMany(_) => ("unavailable", limit("http-requests")),
        SendError::TooLarge { what: Part::Request, .. } => ("unavailable", limit("http-request")),
        SendError::TooLarge { what: Part::Response, .. } => ("unavailable", limit("http-response")),
        SendError::Timeout(Phase::Total) => ("timed_out", limit("http-time")),
        SendError::Timeout(Phase::Queue) => ("timed_out", limit("http-time` or `limits.http-at-once")),
        SendError::Tls { .. } => ("unavailable", error.to_string()),
        _ => return None,
    })
}

/// What the guest is told.
fn told(error: &SendError) -> Error {
    match error {
        SendError::Denied(Refusal::Leads { .. }) => Error::DestinationIpProhibited,
        SendError::Denied(_) => Error::HttpRequestDenied,
        SendError::TooMany(_) => Error::ConnectionLimitReached,
        SendError::Dns(_) => Error::DnsError { rcode: None, info_code: None },
        SendError::Connect(_) => Error::ConnectionRefused,
        SendError::Tls { .. } => Error::TlsCertificateError,
        SendError::Timeout(Phase::Connect) => Error::ConnectionTimeout,
        SendError::Timeout(Phase::BetweenBytes) => Error::ConnectionReadTimeout,
        SendError::Timeout(Phase::Queue | Phase::FirstByte | Phase::Total) => Error::HttpResponseTimeout,
        SendError::TooLarge { what, limit } => {
            let limit = *limit as u64;
            match what {
                Part::RequestHead => Error::HttpRequestHeaderSectionSize(u32::try_from(limit).ok()),
                Part::Request => Error::HttpRequestBodySize(Some(limit)),
                Part::ResponseHead => Error::HttpResponseHeaderSectionSize(u32::try_from(limit).ok()),
                Part::Response => Error::HttpResponseBodySize(Some(limit)),
            }
        }
        SendError::Secret(_) | SendError::Encoded | SendError::Protocol(_) => {
            Error::InternalError(Some(error.to_string()))
        }
        SendError::Closed => Error::HttpResponseIncomplete,
        SendError::Body => Error::ConnectionTerminated,
    }
}
