//! The connection of an upstream, started again when it is needed.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    life::{ConnectionEnd, HandshakeOrder, run_connection},
    open::OpenConnection,
    outage::UpstreamOutage,
    restart_backoff::RestartBackoff,
};
use crate::{
    runtimes::UpstreamRuntimes,
    spec::{TransportSpec, UpstreamSpec},
};

/// The one connection of an upstream.
pub(crate) struct UpstreamLink {
    spec: Arc<UpstreamSpec>,
    state: watch::Sender<LinkState>,
    /// Connections live on these runtimes, wherever the call runs that starts one.
    runtimes: UpstreamRuntimes,
    stop: CancellationToken,
    backoff: Mutex<RestartBackoff>,
    /// The last connection was opened by `initialize`.
    is_legacy: AtomicBool,
}

#[derive(Clone)]
enum LinkState {
    Idle,
    Connecting,
    Open(Arc<OpenConnection>),
    Down(UpstreamOutage),
}

impl UpstreamLink {
    pub(crate) fn new(spec: Arc<UpstreamSpec>, runtimes: UpstreamRuntimes) -> Arc<Self> {
        Arc::new(Self {
            spec,
            state: watch::Sender::new(LinkState::Idle),
            runtimes,
            stop: CancellationToken::new(),
            backoff: Mutex::default(),
            is_legacy: AtomicBool::new(false),
        })
    }

    /// The settings.
    pub(crate) fn spec(&self) -> &UpstreamSpec {
        &self.spec
    }

    /// Ends the connection for good.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Resolves when the link was stopped.
    pub(crate) async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Resolves when no connection is left after [`stop`](Self::stop).
    pub(crate) async fn ended(&self) {
        let mut states = self.state.subscribe();
        // The sender lives as long as the link.
        let _ = states.wait_for(|state| matches!(state, LinkState::Idle | LinkState::Down(_))).await;
    }

    /// The open connection. Starts one, unless the last start failed a moment ago.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(crate) async fn connection(self: &Arc<Self>) -> Result<Arc<OpenConnection>, UpstreamOutage> {
        let mut states = self.state.subscribe();
        let mut has_waited = false;
        loop {
            let state = states.borrow_and_update().clone();
            match state {
                LinkState::Open(connection) if !connection.is_ending() => return Ok(connection),
                // Its task reports the end in a moment.
                LinkState::Open(_) => {}
                LinkState::Connecting => has_waited = true,
                LinkState::Down(outage)
                    if has_waited || outage.until.is_none_or(|until| until > Instant::now()) =>
                {
                    return Err(outage);
                }
                LinkState::Idle | LinkState::Down(_) => self.start(),
            }
            if states.changed().await.is_err() {
                return Err(stopped());
            }
        }
    }

    /// Starts a connection, unless another call did.
    fn start(self: &Arc<Self>) {
        let starts = self.state.send_if_modified(|state| match state {
            LinkState::Idle | LinkState::Down(_) => {
                *state = LinkState::Connecting;
                true
            }
            LinkState::Connecting | LinkState::Open(_) => false,
        });
        if starts {
            let runtime = match self.spec.transport {
                TransportSpec::Stdio(_) => &self.runtimes.io,
                TransportSpec::Http(_) => &self.runtimes.calls,
            };
            runtime.spawn(self.clone().run());
        }
    }

    /// Runs one connection.
    async fn run(self: Arc<Self>) {
        let mut opened = None;
        let mut end = if self.stop.is_cancelled() {
            ConnectionEnd { reason: stopped().reason, hung_up: false }
        } else {
            let order = match self.is_legacy.load(Ordering::Relaxed) {
                true => HandshakeOrder::InitializeOnly,
                false => HandshakeOrder::NewestFirst,
            };
            self.run_once(order, &mut opened).await
        };
        if opened.is_none() {
            // A server that was replaced by one of another era is found by the next attempt.
            let was_legacy = self.is_legacy.swap(false, Ordering::Relaxed);
            if end.hung_up && !was_legacy && !self.stop.is_cancelled() {
                end = self.run_once(HandshakeOrder::InitializeOnly, &mut opened).await;
            }
        }
        let outage = if self.stop.is_cancelled() {
            stopped()
        } else {
            let lived = opened.map(|opened: Instant| opened.elapsed()).unwrap_or_default();
            let wait = self.backoff.lock().after_end(lived);
            tracing::warn!(upstream = self.spec.name, wait = ?wait, "the upstream's connection ended: {}", end.reason);
            UpstreamOutage { reason: end.reason, until: Some(Instant::now() + wait) }
        };
        self.state.send_replace(LinkState::Down(outage));
    }

    async fn run_once(&self, order: HandshakeOrder, opened: &mut Option<Instant>) -> ConnectionEnd {
        run_connection(&self.spec, &self.runtimes.calls, order, &self.stop, |connection| {
            *opened = Some(Instant::now());
            self.is_legacy.store(!connection.is_stateless(), Ordering::Relaxed);
            self.state.send_replace(LinkState::Open(connection));
        })
        .await
    }
}

fn stopped() -> UpstreamOutage {
    UpstreamOutage { reason: "the host has ended it".to_owned(), until: None }
}
