//! What the pages show and change.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::extract::State as Axum;
use loggia_gate::{approval::ApprovalDesk, call::Gate};
use loggia_load::{LoadStatus, LoadStatusReport, pins::PinKeeper};
use loggia_policy::settings::credential::TokenHash;
use loggia_server::auth::Authenticator;
use tokio::{sync::Semaphore, time::MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::{
    attempts::LoginAttempts,
    samples::{PERIOD, SampleRing},
    session::{OperatorSessions, random_text},
};
use crate::{PluginHost, metrics_source::read_readiness, readiness::Readiness};

/// Streams of events at once: one for each open page.
const STREAMS: usize = 12;

/// What the page is made of.
pub struct OperatorPage {
    gate: Gate,
    load_status: Arc<LoadStatus>,
    pins: Arc<PinKeeper>,
    authenticator: Option<Authenticator>,
    token: TokenHash,
}

impl OperatorPage {
    /// Creates the page of a host, for those who have the token.
    pub fn new(host: &PluginHost, authenticator: Option<Authenticator>, token: TokenHash) -> Self {
        let (gate, load_status) = (host.gate.clone(), Arc::clone(&host.load_status));
        Self { gate, load_status, pins: Arc::clone(&host.pins), authenticator, token }
    }
}

/// State of the page.
pub(super) struct PageContext {
    pub(super) gate: Gate,
    load_status: Arc<LoadStatus>,
    /// The lock of approved versions.
    pub(super) pins: Arc<PinKeeper>,
    pub(super) authenticator: Option<Authenticator>,
    /// Hash of the token of operators.
    pub(super) token: TokenHash,
    stop: CancellationToken,
    began: Instant,
    pub(super) sessions: OperatorSessions,
    pub(super) attempts: LoginAttempts,
    pub(super) samples: SampleRing,
    /// Places for streams of events.
    pub(super) streams: Arc<Semaphore>,
    /// Proves that the form of the login is this server's.
    pub(super) login_token: String,
}

/// State of the page, as handlers take it.
pub(super) type PageExtract = Axum<Arc<PageContext>>;

impl PageContext {
    pub(super) fn new(page: OperatorPage, stop: CancellationToken) -> Self {
        let OperatorPage { gate, load_status, pins, authenticator, token } = page;
        Self {
            gate,
            load_status,
            pins,
            authenticator,
            token,
            stop,
            began: Instant::now(),
            sessions: OperatorSessions::default(),
            attempts: LoginAttempts::default(),
            samples: SampleRing::default(),
            streams: Arc::new(Semaphore::new(STREAMS)),
            login_token: random_text(),
        }
    }

    /// Samples the counters until this is dropped.
    pub(super) fn start_sampling(self: &Arc<Self>) {
        let context = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(PERIOD);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                let Some(context) = context.upgrade() else { return };
                context.samples.record(context.gate.meters());
            }
        });
    }

    /// Status of the files, and whether the server should receive traffic.
    pub(super) fn readiness(&self) -> (Arc<LoadStatusReport>, Readiness) {
        let report = self.load_status.now();
        let readiness = read_readiness(&self.gate, self.authenticator.as_ref(), &self.stop, &report);
        (report, readiness)
    }

    /// Time since the listener was started.
    pub(super) fn uptime(&self) -> Duration {
        self.began.elapsed()
    }

    /// Approvals, if the host keeps any.
    pub(super) fn desk(&self) -> Option<&Arc<ApprovalDesk>> {
        self.gate.approvals()
    }
}
