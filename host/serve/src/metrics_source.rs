//! The metrics of a running host.

use std::sync::Arc;

use loggia_gate::call::Gate;
use loggia_load::{FacadeKind, LoadState, LoadStatus, LoadStatusReport};
use loggia_server::auth::Authenticator;
use loggia_telemetry::{logs, metrics::MetricsSnapshot, otlp, trail};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{
    PluginHost,
    readiness::{Readiness, ServerState},
    vitals,
    vitals::TaskCounts,
};

/// Where the metrics of a host are read.
pub struct MetricsSource {
    gate: Gate,
    standing: Arc<LoadStatus>,
    /// The I/O runtime, and those of calls.
    runtimes: Option<[Handle; 3]>,
    /// `None` if access is unauthenticated.
    authenticator: Option<Authenticator>,
}

impl MetricsSource {
    /// Creates the source of this host. Must be called on the I/O runtime.
    pub fn new(host: &PluginHost, authenticator: Option<Authenticator>) -> Self {
        let runtimes = host.lanes().map(|lanes| [Handle::current(), lanes.calls, lanes.heavy]);
        Self { gate: host.gate.clone(), standing: Arc::clone(&host.load_status), runtimes, authenticator }
    }

    /// Reads all metrics as they are now. The server is not ready once `stop` is cancelled.
    pub fn snapshot(&self, stop: &CancellationToken) -> MetricsSnapshot {
        let report = self.standing.now();
        let counts = self.runtimes.as_ref().map(|runtimes| TaskCounts::read(runtimes).0);
        let tasks = counts.map(|counts| ["io", "calls", "heavy"].into_iter().zip(counts));
        MetricsSnapshot {
            meters: Arc::clone(self.gate.meters()),
            census: self.gate.snapshot(),
            plugins: LoadState::ALL.map(|state| (state.as_str(), report.count(state))).to_vec(),
            upstreams: upstreams_up(&report),
            reloads: self.standing.version_counts(),
            ready: self.readiness(stop, &report).ready,
            dropped: logs::dropped(),
            lost: trail::lost(),
            spans_dropped: otlp::dropped(),
            tasks: tasks.into_iter().flatten().collect(),
            process: vitals::process_stats().ok(),
        }
    }

    /// Whether the server should receive traffic. It should not once `stop` is cancelled.
    pub(super) fn readiness(&self, stop: &CancellationToken, report: &LoadStatusReport) -> Readiness {
        read_readiness(&self.gate, self.authenticator.as_ref(), stop, report)
    }

    /// State of the loaded files.
    pub(super) fn load_report(&self) -> Arc<LoadStatusReport> {
        self.standing.now()
    }

    /// The runtimes, unless the host is shutting down.
    pub(super) fn runtimes(&self) -> impl Iterator<Item = &Handle> {
        self.runtimes.iter().flatten()
    }
}

/// Whether a server should receive traffic. `authenticator`: `None` if access is unauthenticated.
pub(super) fn read_readiness(
    gate: &Gate,
    authenticator: Option<&Authenticator>,
    stop: &CancellationToken,
    report: &LoadStatusReport,
) -> Readiness {
    let server = ServerState {
        draining: stop.is_cancelled(),
        loaded: gate.catalog().is_admitted(),
        has_keys: authenticator.is_none_or(Authenticator::is_ready),
        audit: trail::fault(),
        guards: &gate.guard_statuses(),
    };
    Readiness::new(&server, report)
}

/// Sends traces and metrics of a host from now on, if the settings say so. Must be called on the I/O runtime. The server is not
/// ready once `stop` is cancelled.
pub fn start_telemetry(host: &PluginHost, authenticator: Option<Authenticator>, stop: &CancellationToken) {
    if let Some(exporter) = host.telemetry() {
        let (source, stop) = (MetricsSource::new(host, authenticator), stop.clone());
        exporter.start(Arc::new(move || source.snapshot(&stop)));
    }
}

/// Lists upstreams, and whether they can be called.
fn upstreams_up(report: &LoadStatusReport) -> Vec<(String, bool)> {
    let offers = report.files.iter();
    let upstreams = offers.filter_map(|offer| match FacadeKind::from_key(&offer.file)? {
        (FacadeKind::Upstream, name) => Some((name.to_owned(), offer.state == LoadState::Serving)),
        _ => None,
    });
    upstreams.collect()
}
