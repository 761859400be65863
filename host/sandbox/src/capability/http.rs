//! Requests over HTTP: `wasi:http` in front of our own egress.

use std::future::Future;

use http_body_util::BodyExt;
use loggia_egress::{CallEgress, Client, Grants, Mode, Part, Phase, Refusal, SendError, Timeouts};
use loggia_facade::{Effect, Level};
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks};

mod names;

use crate::{guest::Guest, limits::Limits, output::Output};

/// Bytes of the headers of a request or response, as they are held in memory.
const FIELDS: usize = 64 << 10;

/// Bytes that one write to a request's body may have. The host keeps two such pieces of each body, also of requests
/// that are never sent, which no limit of memory counts.
const PIECE: usize = 64 << 10;

/// Links `wasi:http`.
pub(super) fn init(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    names::init(linker)
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
    pub(super) fn prepare(client: Option<&Client>, effect: Effect, output: &Output) -> Self {
        let mut wasi = WasiHttpCtx::new();
        wasi.set_field_size_limit(FIELDS);
        let mode = if effect == Effect::Read { Mode::Reads } else { Mode::Writes };
        let egress = client.map(|client| (client.clone(), mode));
        Self { wasi, hooks: Hooks { egress, call: None, output: Some(output.clone()), refused: None } }
    }

    pub(crate) fn view<'a>(&'a mut self, table: &'a mut ResourceTable) -> WasiHttpCtxView<'a> {
        WasiHttpCtxView { hooks: &mut self.hooks, table, ctx: &mut self.wasi }
    }

    /// Why the last request was refused that was: the guest sees only that it was.
    pub(crate) fn refused(&self) -> Option<String> {
        self.hooks.refused.clone()
    }
}

#[derive(Default)]
struct Hooks {
    egress: Option<(Client, Mode)>,
    /// Made by the first request.
    call: Option<CallEgress>,
    /// For what the operator should know.
    output: Option<Output>,
    refused: Option<String>,
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
        let output = self.output.clone();
        let sending = ticket.send(http::Request::from_parts(parts, body), timeouts);
        Box::new(async move {
            let response = sending.await.map_err(|error| {
                tell(output.as_ref(), &error);
                told(&error)
            })?;
            let body = |body: loggia_egress::BodyOut| body.map_err(|error| told(&error)).boxed_unsync();
            let nothing: Box<dyn Future<Output = Result<(), Error>> + Send> = Box::new(async { Ok(()) });
            Ok((response.map(body), nothing))
        })
    }
}

impl Hooks {
    fn admit(&mut self, parts: &http::request::Parts) -> Result<loggia_egress::Ticket, Error> {
        let Some((client, mode)) = &self.egress else {
            self.refused = Some("the policy of this plugin does not grant `http`".to_owned());
            self.log(Level::Warn, "a request was refused: the policy does not grant `http`");
            return Err(Error::HttpRequestDenied);
        };
        let call = self.call.get_or_insert_with(|| client.call(*mode));
        call.admit(parts).map_err(|error| {
            tell(self.output.as_ref(), &error);
            self.refused = Some(error.to_string());
            told(&error)
        })
    }

    fn log(&self, level: Level, text: &str) {
        if let Some(output) = &self.output {
            output.log(level, text);
        }
    }
}

/// What the operator may want to change is in the log.
fn tell(output: Option<&Output>, error: &SendError) {
    let level = match error {
        SendError::Denied(_) | SendError::TooMany(_) | SendError::TooLarge { .. } | SendError::Secret(_) => {
            Level::Warn
        }
        _ => Level::Debug,
    };
    if let Some(output) = output {
        output.log(level, &format!("a request failed: {error}"));
    }
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
