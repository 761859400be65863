//! What one call sends: each request is admitted at once, then exchanged.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::{Method, Request, Response, Uri, request::Parts};
use tokio::{sync::Semaphore, time::Instant};

use crate::{
    BodyIn, BodyOut, Limits, Mode, Refusal, SendError, Timeouts,
    connect::Network,
    destination::Target,
    exchange::{self, Job},
    headers, policy, secret,
};

/// An exchange's longest time, whatever the limits say, so that no sum of times overflows.
pub(crate) const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// What one call of a plugin may send. Cheap to clone; all clones count together.
#[derive(Clone)]
pub struct CallEgress(Arc<Inner>);

pub(crate) struct Inner {
    pub network: Arc<Network>,
    pub limits: Arc<Limits>,
    mode: Mode,
    sent: AtomicUsize,
    /// As many permits as requests may run at once.
    pub running: Arc<Semaphore>,
}

impl CallEgress {
    pub(crate) fn new(network: Arc<Network>, limits: Arc<Limits>, mode: Mode) -> Self {
        let running = Arc::new(Semaphore::new(limits.at_once.clamp(1, Semaphore::MAX_PERMITS)));
        Self(Arc::new(Inner { network, limits, mode, sent: AtomicUsize::new(0), running }))
    }

    /// Decides at once, before anything is looked up or opened, whether a request may be sent. An admitted request counts,
    /// sent or not; a refused one does not.
    ///
    /// # Errors
    ///
    /// [`SendError::Denied`], [`SendError::TooMany`], or [`SendError::TooLarge`] for a head, or a body's declared
    /// length, that is.
    pub fn admit(&self, parts: &Parts) -> Result<Ticket, SendError> {
        let target = Target::of(&parts.uri)?;
        self.0.check(parts, &target)?;
        let (method, uri) = (parts.method.clone(), parts.uri.clone());
        Ok(Ticket { call: self.0.clone(), target, method, uri })
    }

    /// The call has ended: what waits for its turn is not sent any more. Otherwise each request that is dropped would make
    /// room for another that is dropped a moment later.
    pub fn end(&self) {
        self.0.running.close();
    }

    /// Admits a request and sends it.
    ///
    /// # Errors
    ///
    /// As for [`CallEgress::admit`] and [`Ticket::send`].
    pub fn send(
        &self,
        request: Request<BodyIn>,
        timeouts: Timeouts,
    ) -> impl Future<Output = Result<Response<BodyOut>, SendError>> + Send + 'static + use<> {
        let (parts, body) = request.into_parts();
        let sending =
            self.admit(&parts).map(|ticket| ticket.send(Request::from_parts(parts, body), timeouts));
        async move { sending?.await }
    }
}

impl Inner {
    /// Checks one request, or one hop of it, and counts it.
    pub fn check(&self, parts: &Parts, to: &Target) -> Result<(), SendError> {
        let grants = &self.network.grants;
        policy::check(grants, self.mode, &parts.method, to)?;
        headers::check(parts, to, self.limits.request)?;
        secret::check_guest(grants, &parts.headers, to)?;
        let limit = self.limits.requests;
        let count = |sent| (sent < limit).then_some(sent + 1);
        let counted = self.sent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        counted.map(|_| ()).map_err(|_| SendError::TooMany(limit))
    }
}

/// A request that has been admitted.
pub struct Ticket {
    call: Arc<Inner>,
    target: Target,
    method: Method,
    uri: Uri,
}

impl Ticket {
    /// Sends the request that was admitted. Its time begins now, not when the future is first polled. The response's body
    /// is part of the exchange: it is timed and counted, and to drop it, or the future, ends the connection.
    ///
    /// # Errors
    ///
    /// Whatever keeps the answer from coming: see [`SendError`].
    pub fn send(
        self,
        request: Request<BodyIn>,
        timeouts: Timeouts,
    ) -> impl Future<Output = Result<Response<BodyOut>, SendError>> + Send + 'static + use<> {
        let end = Instant::now() + self.call.limits.time.min(LONGEST);
        async move {
            let (parts, body) = request.into_parts();
            if parts.method != self.method || parts.uri != self.uri {
                return Err(Refusal::Changed.into());
            }
            // Headers may have been added since.
            headers::check(&parts, &self.target, self.call.limits.request)?;
            secret::check_guest(&self.call.network.grants, &parts.headers, &self.target)?;
            let job = Job { call: self.call, timeouts, end };
            exchange::run(job, self.target, parts, body).await
        }
    }
}
