//! Requests of one call: each is admitted at once, then exchanged.

use std::sync::Arc;

use http::{Method, Request, Response, Uri, request::Parts};
use tokio::time::Instant;

use crate::{
    BodyIn, BodyOut, RequestRefusal, SendError, SendTimeouts, attach,
    call_state::{LONGEST, SendCallState},
    connect::PluginNetwork,
    destination::RequestTarget,
    exchange::{self, ExchangeJob},
    headers,
    limits::EgressLimits,
    policy::EgressMode,
    tape::HttpTape,
    taped_exchange,
};

/// Egress of one call. Cheap to clone; all clones count together.
#[derive(Clone)]
pub struct CallEgress(Arc<SendCallState>);

impl CallEgress {
    pub(crate) fn new(
        network: Arc<PluginNetwork>,
        limits: Arc<EgressLimits>,
        mode: EgressMode,
        tape: Option<Arc<dyn HttpTape>>,
    ) -> Self {
        Self(Arc::new(SendCallState::new(network, limits, mode, tape)))
    }

    /// Checks a request against the policy, before anything is resolved or opened. An admitted request counts, sent or not; a
    /// refused one does not.
    ///
    /// # Errors
    ///
    /// [`SendError::Denied`], [`SendError::TooMany`], or [`SendError::TooLarge`] for a head or a body's declared
    /// length.
    pub fn admit(&self, parts: &Parts) -> Result<SendTicket, SendError> {
        let target = RequestTarget::parse(&parts.uri)?;
        self.0.check(parts, &target)?;
        let (method, uri) = (parts.method.clone(), parts.uri.clone());
        Ok(SendTicket { call: self.0.clone(), target, method, uri })
    }

    /// Ends the call: requests that wait for their turn fail. Otherwise each dropped request would let another one start that is
    /// dropped a moment later.
    pub fn end(&self) {
        self.0.running.close();
    }

    /// Admits a request and sends it.
    ///
    /// # Errors
    ///
    /// As for [`CallEgress::admit`] and [`SendTicket::send`].
    pub fn send(
        &self,
        request: Request<BodyIn>,
        timeouts: SendTimeouts,
    ) -> impl Future<Output = Result<Response<BodyOut>, SendError>> + Send + 'static + use<> {
        let (parts, body) = request.into_parts();
        let sending =
            self.admit(&parts).map(|ticket| ticket.send(Request::from_parts(parts, body), timeouts));
        async move { sending?.await }
    }
}

/// A request that has been admitted.
pub struct SendTicket {
    call: Arc<SendCallState>,
    target: RequestTarget,
    method: Method,
    uri: Uri,
}

impl SendTicket {
    /// Sends the admitted request. Its time begins now, not when the future is first polled. The response's body is part of the
    /// exchange: it is timed and counted, and dropping it, or the future, closes the connection.
    ///
    /// # Errors
    ///
    /// See [`SendError`].
    pub fn send(
        self,
        request: Request<BodyIn>,
        timeouts: SendTimeouts,
    ) -> impl Future<Output = Result<Response<BodyOut>, SendError>> + Send + 'static + use<> {
        let end = Instant::now() + self.call.limits.time.min(LONGEST);
        async move {
            let (parts, body) = request.into_parts();
            if parts.method != self.method || parts.uri != self.uri {
                return Err(RequestRefusal::Changed.into());
            }
            // Headers may have been added since.
            headers::check(&parts, &self.target, self.call.limits.request)?;
            attach::check_guest(&self.call.network.grants, &parts.headers, &self.target)?;
            let tape = self.call.tape.clone();
            let job = ExchangeJob { call: self.call, timeouts, end };
            match tape {
                Some(tape) => taped_exchange::run(tape, job, self.target, parts, body).await,
                None => exchange::run(job, self.target, parts, body).await,
            }
        }
    }
}
