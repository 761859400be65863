//! All metrics, and their page in OpenMetrics text, for Prometheus. All names are in this file; `docs/operators/operations.md`
//! documents them, and a test checks that it is complete. `otlp/metric_names.rs` has OpenTelemetry's names for them.

use std::{fmt, sync::Arc, time::SystemTime};

use loggia_gate::{
    call::{GateSnapshot, GuardCondition},
    flow::{BUCKET_BOUNDS, GateMeters, Histogram},
};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, NoLabelSet, text},
    metrics::MetricType,
    registry::Registry,
};

use super::metric_sink::{Labels, MetricSink, MetricValue};

/// Content type of the format.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All metrics at one moment.
#[derive(Debug)]
pub struct MetricsSnapshot {
    /// Counters of calls, operations and HTTP.
    pub meters: Arc<GateMeters>,
    /// Current state of the gate.
    pub census: GateSnapshot,
    /// Files of the plugin folder, by state.
    pub plugins: Vec<(&'static str, usize)>,
    /// Upstream servers, and whether each can be called.
    pub upstreams: Vec<(String, bool)>,
    /// Outcomes of loading versions of these files.
    pub reloads: Vec<(&'static str, u64)>,
    /// Readiness, as `/readyz` reports it.
    pub ready: bool,
    /// Dropped log lines.
    pub dropped: usize,
    /// Lost lines of the audit trail.
    pub lost: usize,
    /// Dropped spans of traces.
    pub spans_dropped: u64,
    /// Live tasks, by runtime.
    pub tasks: Vec<(&'static str, usize)>,
    /// Resource usage of the process; `None` if the system does not report it.
    pub process: Option<ProcessStats>,
}

/// Resource usage of a process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessStats {
    /// Resident memory in bytes.
    pub resident: u64,
    /// Open file descriptors.
    pub descriptors: usize,
    /// Limit of open file descriptors.
    pub most_descriptors: Option<u64>,
    /// Number of threads.
    pub threads: usize,
    /// CPU time in seconds.
    pub cpu: f64,
    /// Start time.
    pub started: SystemTime,
}

/// Renders the metrics.
pub fn render(figures: MetricsSnapshot) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(figures));
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = text::encode(&mut page, &registry);
    page
}

impl Collector for MetricsSnapshot {
    fn encode(&self, encoder: DescriptorEncoder) -> fmt::Result {
        self.write_to(&mut PageEncoder(encoder))
    }
}

impl MetricsSnapshot {
    /// Writes all families.
    pub(super) fn write_to(&self, page: &mut impl MetricSink) -> fmt::Result {
        page.info("loggia_build", "Version of the server", [("version", env!("CARGO_PKG_VERSION"))])?;
        page.gauge("loggia_ready", "1 while the server is ready for clients", u64::from(self.ready))?;
        self.calls(page)?;
        self.facades(page)?;
        self.operations(page)?;
        let plugins = self.plugins.iter().map(|(state, count)| ([("state", *state)], *count));
        page.gauges("loggia_plugins", "Files of the plugin folder, by state", plugins)?;
        let upstreams = self.upstreams.iter();
        let upstreams = upstreams.map(|(name, is_up)| ([("upstream", name.as_str())], u64::from(*is_up)));
        page.gauges("loggia_upstream_up", "1 while an upstream server can be called", upstreams)?;
        self.guards(page)?;
        let reloads = self.reloads.iter().map(|(result, count)| ([("result", *result)], *count));
        page.counters(
            "loggia_reloads",
            "Versions of these files that were loaded, failed or removed",
            reloads,
        )?;
        let GateSnapshot { running, waiting, ended, .. } = self.census;
        let runs = [("running", running), ("waiting", waiting), ("ended", ended)];
        let runs = runs.map(|(state, count)| ([("state", state)], count));
        page.gauges("loggia_runs", "Runs in the registry, by status", runs)?;
        self.http(page)?;
        page.counter(
            "loggia_log_lines_dropped",
            "Log lines dropped because stderr was not read",
            self.dropped as u64,
        )?;
        page.counter(
            "loggia_audit_lines_lost",
            "Audit lines lost because of a full queue or a write error",
            self.lost as u64,
        )?;
        page.counter(
            "loggia_telemetry_spans_dropped",
            "Spans of traces dropped because the collector did not take them",
            self.spans_dropped,
        )?;
        let tasks = self.tasks.iter().map(|(runtime, count)| ([("runtime", *runtime)], *count));
        page.gauges("loggia_tasks", "Live tasks, by runtime", tasks)?;
        self.process.as_ref().map_or(Ok(()), |process| process.write_to(page))
    }

    fn calls(&self, page: &mut impl MetricSink) -> fmt::Result {
        let calls = self.meters.calls.load();
        let actions: Vec<_> = calls.iter().map(|(tool, calls)| (tool, calls.actions.load())).collect();
        let ends = actions.iter().flat_map(|(tool, actions)| {
            actions.iter().flat_map(move |(action, ends)| {
                ends.counts().map(move |(outcome, count)| {
                    ([("tool", &***tool), ("action", &**action), ("outcome", outcome)], count)
                })
            })
        });
        page.counters("loggia_calls", "Finished calls, by facade, action and outcome", ends)?;
        // Unknown names that were only requested have no durations.
        let ran = calls.iter().filter(|(_, calls)| calls.times.totals().1.iter().any(|count| *count > 0));
        let times = ran.map(|(tool, calls)| ([("tool", &**tool)], &calls.times));
        page.histograms(
            "loggia_call_duration_seconds",
            "Duration of calls, without their time in the queue",
            times,
        )?;
        let running = calls.iter().map(|(tool, calls)| ([("tool", &**tool)], calls.running.get()));
        page.gauges("loggia_calls_in_flight", "Running calls", running)
    }

    fn facades(&self, page: &mut impl MetricSink) -> fmt::Result {
        let facades = || self.census.facades.iter().map(|(name, now)| (name.as_str(), now));
        let queued = facades().map(|(tool, now)| ([("tool", tool)], now.queued));
        page.gauges("loggia_calls_queued", "Queued calls", queued)?;
        let rests = facades().map(|(tool, now)| ([("tool", tool)], now.breaker));
        page.gauges("loggia_breaker_state", "Circuit breaker: 0 closed, 1 half-open, 2 open", rests)?;
        let cpu = facades().map(|(tool, now)| ([("tool", tool)], now.usage.cpu.as_secs_f64()));
        page.counters(
            "loggia_cpu_seconds",
            "CPU time of a plugin's calls since its version was loaded",
            cpu,
        )?;
        let prepared = facades().map(|(tool, now)| ([("tool", tool)], now.usage.prepared));
        page.counters(
            "loggia_calls_prepared",
            "Calls of a plugin in an instance that was made ahead, since its version was loaded",
            prepared.filter(|(_, count)| *count > 0),
        )?;
        let sent = facades().flat_map(|(tool, now)| {
            let usage = &now.usage;
            let counts = [("answered", usage.answered), ("denied", usage.denied), ("failed", usage.failed)];
            counts.map(|(outcome, count)| ([("tool", tool), ("outcome", outcome)], count))
        });
        let sent = sent.filter(|(_, count)| *count > 0);
        page.counters(
            "loggia_egress_requests",
            "HTTP requests of a plugin since its version was loaded",
            sent,
        )
    }

    fn guards(&self, page: &mut impl MetricSink) -> fmt::Result {
        let guards = || self.census.guards.iter();
        let up = guards().map(|guard| {
            let is_up = matches!(guard.condition, GuardCondition::Ready(_));
            ([("guard", guard.name.as_str())], u64::from(is_up))
        });
        page.gauges("loggia_guard_up", "1 while a guard is loaded; otherwise no call passes it", up)?;
        let looks = guards().flat_map(|guard| {
            let looks = guard.looks.iter().filter(|(_, count)| *count > 0);
            looks.map(|(look, count)| ([("guard", guard.name.as_str()), ("outcome", look.as_str())], *count))
        });
        page.counters("loggia_guard_looks", "Looks of guards at calls and results, by outcome", looks)
    }

    fn operations(&self, page: &mut impl MetricSink) -> fmt::Result {
        let label = |method, tool, error| {
            [("mcp_method_name", method), ("gen_ai_tool_name", tool), ("error_type", error)]
        };
        let (tools, others) = (self.meters.tool_calls.load(), self.meters.operations.load());
        let calls = tools.iter().flat_map(|(tool, calls)| {
            calls.by_error().map(move |(error, times)| (label("tools/call", &**tool, error), times))
        });
        let others = others.iter().flat_map(|(method, operation)| {
            operation.by_error().map(move |(error, times)| (label(&**method, "", error), times))
        });
        let name = "mcp_server_operation_duration_seconds";
        page.histograms(name, "Duration of MCP requests", calls.chain(others))
    }

    fn http(&self, page: &mut impl MetricSink) -> fmt::Result {
        let http = &self.meters.http;
        let statuses: Vec<_> = http.statuses().map(|(status, count)| (status.to_string(), count)).collect();
        let statuses = statuses.iter().map(|(status, count)| ([("status", status.as_str())], *count));
        page.counters("loggia_http_requests", "HTTP requests, by response status", statuses)?;
        page.gauge("loggia_http_connections", "Open HTTP connections", http.connections.get())?;
        page.gauge("loggia_sessions", "Sessions of clients before 2026-07-28", http.sessions.get())?;
        page.gauge("loggia_sessions_hibernated", "Hibernated sessions", http.sessions_hibernated.get())?;
        let refused: Vec<_> = http.refusals().collect();
        let refused = refused.iter().map(|(reason, count)| ([("reason", &**reason)], *count));
        page.counters(
            "loggia_auth_failures",
            "Refused requests of unauthenticated callers, by reason",
            refused,
        )
    }
}

impl ProcessStats {
    fn write_to(&self, page: &mut impl MetricSink) -> fmt::Result {
        page.gauge("process_resident_memory_bytes", "Resident memory", self.resident)?;
        page.gauge("process_open_fds", "Open file descriptors", self.descriptors)?;
        if let Some(most) = self.most_descriptors {
            page.gauge("process_max_fds", "Limit of open file descriptors", most)?;
        }
        page.gauge("process_threads", "Threads", self.threads)?;
        page.counter("process_cpu_seconds", "CPU time", self.cpu)?;
        let began = self.started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        page.gauge(
            "process_start_time_seconds",
            "Start time of the process, in seconds since 1970",
            began.as_secs_f64(),
        )
    }
}

/// Writes the page.
struct PageEncoder<'a>(DescriptorEncoder<'a>);

impl MetricSink for PageEncoder<'_> {
    fn info<const N: usize>(&mut self, name: &str, help: &str, labels: Labels<'_, N>) -> fmt::Result {
        self.0.encode_descriptor(name, help, None, MetricType::Info)?.encode_info(&labels)
    }

    fn gauges<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, impl Into<MetricValue>)>,
    ) -> fmt::Result {
        let mut metric = self.0.encode_descriptor(name, help, None, MetricType::Gauge)?;
        rows.into_iter().try_for_each(|(labels, value)| match (N, value.into()) {
            (0, MetricValue::Integer(value)) => metric.encode_gauge(&value),
            (0, MetricValue::Float(value)) => metric.encode_gauge(&value),
            (_, MetricValue::Integer(value)) => metric.encode_family(&labels)?.encode_gauge(&value),
            (_, MetricValue::Float(value)) => metric.encode_family(&labels)?.encode_gauge(&value),
        })
    }

    fn counters<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, impl Into<MetricValue>)>,
    ) -> fmt::Result {
        let mut metric = self.0.encode_descriptor(name, help, None, MetricType::Counter)?;
        rows.into_iter().try_for_each(|(labels, value)| match (N, value.into()) {
            (0, MetricValue::Integer(value)) => metric.encode_counter::<NoLabelSet, _, f64>(&value, None),
            (0, MetricValue::Float(value)) => metric.encode_counter::<NoLabelSet, _, f64>(&value, None),
            (_, MetricValue::Integer(value)) => {
                metric.encode_family(&labels)?.encode_counter::<NoLabelSet, _, f64>(&value, None)
            }
            (_, MetricValue::Float(value)) => {
                metric.encode_family(&labels)?.encode_counter::<NoLabelSet, _, f64>(&value, None)
            }
        })
    }

    fn histograms<'l, 't, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, &'t Histogram)>,
    ) -> fmt::Result {
        let mut metric = self.0.encode_descriptor(name, help, None, MetricType::Histogram)?;
        rows.into_iter().try_for_each(|(labels, times)| {
            let (sum, counts) = times.totals();
            let bounds = BUCKET_BOUNDS.into_iter().chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
            let all = counts.iter().sum();
            metric.encode_family(&labels)?.encode_histogram::<NoLabelSet>(sum, all, &buckets, None)
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use loggia_facade::Usage;
    use loggia_gate::{
        call::{FacadeStatus, GuardStatus},
        flow::CallOutcome,
        guard::GuardLook,
    };

    use super::*;

    /// Figures of a busy server.
    pub(crate) fn figures() -> MetricsSnapshot {
        let meters: Arc<GateMeters> = Arc::default();
        let notes = meters.calls.get_or_insert("notes");
        let _running = notes.running.track();
        std::mem::forget(notes.running.track());
        notes.actions.get_or_insert("add").increment(CallOutcome::Ok);
        notes.actions.get_or_insert("add").increment(CallOutcome::from_code("denied"));
        notes.actions.get_or_insert("list").increment(CallOutcome::from_code("its own"));
        notes.times.record(Duration::from_millis(15));
        meters.tool_calls.get_or_insert("notes").record("", Duration::from_millis(15));
        meters.tool_calls.get_or_insert("notes").record("tool_error", Duration::from_secs(400));
        meters.operations.get_or_insert("tools/list").record("", Duration::from_micros(1));
        meters.http.record_status(200);
        meters.http.record_status(42);
        meters.http.record_refusal("expired");
        meters.http.sessions.set(3);
        meters.http.sessions_hibernated.set(2);
        let usage =
            Usage { cpu: Duration::from_millis(1500), answered: 2, denied: 1, failed: 0, prepared: 9 };
        let now = FacadeStatus { queued: 4, breaker: 2, usage };
        let guard = |name: &str, condition, looks| GuardStatus {
            name: name.to_owned(),
            is_everywhere: true,
            facades: Vec::new(),
            condition,
            looks,
        };
        let census = GateSnapshot {
            facades: vec![("notes".into(), now)],
            guards: vec![
                guard(
                    "mask",
                    GuardCondition::Ready("sha256:0".into()),
                    vec![(GuardLook::Allowed, 8), (GuardLook::Replaced, 2), (GuardLook::Failed, 0)],
                ),
                guard("mark", GuardCondition::Failed, vec![(GuardLook::Missing, 1)]),
            ],
            unavailable: 1,
            running: 5,
            waiting: 1,
            ended: 7,
        };
        let process = ProcessStats {
            resident: 25 << 20,
            descriptors: 20,
            most_descriptors: Some(1024),
            threads: 9,
            cpu: 1.25,
            started: SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000),
        };
        MetricsSnapshot {
            meters,
            census,
            plugins: vec![("serving", 1), ("failed", 1)],
            upstreams: vec![("github".to_owned(), true), ("jira".to_owned(), false)],
            reloads: vec![("loaded", 2), ("failed", 1), ("removed", 0)],
            ready: true,
            dropped: 6,
            lost: 0,
            spans_dropped: 3,
            tasks: vec![("io", 8), ("calls", 2), ("heavy", 0)],
            process: Some(process),
        }
    }

    #[test]
    fn the_page_names_every_figure() {
        insta::assert_snapshot!(render(figures()));
    }

    #[test]
    fn every_metric_is_documented() {
        let docs = include_str!("../../../docs/operators/operations.md");
        let page = render(figures());
        let names = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
        let mut seen = 0;
        for (name, kind) in names {
            let suffix = match kind {
                "counter" => "_total",
                "info" => "_info",
                _ => "",
            };
            assert!(docs.contains(&format!("| `{name}{suffix}")), "{name}{suffix}");
            seen += 1;
        }
        assert!(seen > 20, "{seen}");
    }
}
