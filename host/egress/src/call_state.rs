//! State of one call: its client, its limits, and the requests that it has sent.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::request::Parts;
use tokio::sync::Semaphore;

use crate::{
    attach,
    connect::PluginNetwork,
    destination::RequestTarget,
    error::SendError,
    headers,
    limits::EgressLimits,
    policy::{self, EgressMode},
    tape::HttpTape,
};

/// The longest time of an exchange, whatever the limits are, so that no sum of times overflows.
pub(crate) const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Shared by all clones of a call and by its exchanges.
pub(crate) struct SendCallState {
    pub network: Arc<PluginNetwork>,
    pub limits: Arc<EgressLimits>,
    mode: EgressMode,
    /// Answers or keeps the requests, if anything does.
    pub tape: Option<Arc<dyn HttpTape>>,
    /// Requests and followed redirects so far; only ever raised, up to the limit.
    sent: AtomicUsize,
    /// One permit per request that may run at once. An exchange holds its permit until its response's body has ended. Closed
    /// when the call ends, so that waiting requests fail instead of being sent. A request never holds more than one, so they
    /// cannot deadlock.
    pub running: Arc<Semaphore>,
}

impl SendCallState {
    pub(crate) fn new(
        network: Arc<PluginNetwork>,
        limits: Arc<EgressLimits>,
        mode: EgressMode,
        tape: Option<Arc<dyn HttpTape>>,
    ) -> Self {
        let running = Arc::new(Semaphore::new(limits.at_once.clamp(1, Semaphore::MAX_PERMITS)));
        Self { network, limits, mode, tape, sent: AtomicUsize::new(0), running }
    }

    /// Checks one request, or one hop of it, and counts it.
    pub(crate) fn check(&self, parts: &Parts, to: &RequestTarget) -> Result<(), SendError> {
        let grants = &self.network.grants;
        policy::check(grants, self.mode, &parts.method, to)?;
        headers::check(parts, to, self.limits.request)?;
        attach::check_guest(grants, &parts.headers, to)?;
        let limit = self.limits.requests;
        let count = |sent| (sent < limit).then_some(sent + 1);
        let counted = self.sent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        counted.map(|_| ()).map_err(|_| SendError::TooMany(limit))
    }
}
