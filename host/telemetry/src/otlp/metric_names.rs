//! OpenTelemetry's names of metrics and their attributes. Where it defines none, ours begin with `loggia.`.

/// A metric in both worlds.
pub(super) struct MetricName {
    /// Name for Prometheus, without the suffix of counters.
    pub prometheus: &'static str,
    /// Name in OTLP.
    pub otlp: &'static str,
    /// Unit, in the code of UCUM.
    pub unit: &'static str,
}

const fn name(prometheus: &'static str, otlp: &'static str, unit: &'static str) -> MetricName {
    MetricName { prometheus, otlp, unit }
}

/// All metrics.
pub(super) const METRICS: &[MetricName] = &[
    name("loggia_build", "loggia.build", "1"),
    name("loggia_ready", "loggia.ready", "1"),
    name("loggia_calls", "loggia.calls", "{call}"),
    name("loggia_call_duration_seconds", "loggia.call.duration", "s"),
    name("loggia_calls_in_flight", "loggia.calls.running", "{call}"),
    name("loggia_calls_queued", "loggia.calls.queued", "{call}"),
    name("loggia_breaker_state", "loggia.breaker.state", "1"),
    name("loggia_cpu_seconds", "loggia.cpu.time", "s"),
    name("loggia_calls_prepared", "loggia.calls.prepared", "{call}"),
    name("loggia_egress_requests", "loggia.egress.requests", "{request}"),
    name("mcp_server_operation_duration_seconds", "mcp.server.operation.duration", "s"),
    name("loggia_plugins", "loggia.plugins", "{file}"),
    name("loggia_upstream_up", "loggia.upstream.up", "1"),
    name("loggia_guard_up", "loggia.guard.up", "1"),
    name("loggia_guard_looks", "loggia.guard.looks", "{look}"),
    name("loggia_reloads", "loggia.reloads", "{version}"),
    name("loggia_runs", "loggia.runs", "{run}"),
    name("loggia_http_requests", "loggia.http.requests", "{request}"),
    name("loggia_http_connections", "loggia.http.connections", "{connection}"),
    name("loggia_sessions", "loggia.sessions", "{session}"),
    name("loggia_sessions_hibernated", "loggia.sessions.hibernated", "{session}"),
    name("loggia_auth_failures", "loggia.auth.failures", "{request}"),
    name("loggia_log_lines_dropped", "loggia.log.lines.dropped", "{line}"),
    name("loggia_audit_lines_lost", "loggia.audit.lines.lost", "{line}"),
    name("loggia_telemetry_spans_dropped", "loggia.telemetry.spans.dropped", "{span}"),
    name("loggia_tasks", "loggia.tasks", "{task}"),
    name("process_resident_memory_bytes", "process.memory.usage", "By"),
    name("process_open_fds", "process.open_file_descriptor.count", "{file_descriptor}"),
    name("process_max_fds", "process.open_file_descriptor.limit", "{file_descriptor}"),
    name("process_threads", "process.thread.count", "{thread}"),
    name("process_cpu_seconds", "process.cpu.time", "s"),
    name("process_start_time_seconds", "process.start_time", "s"),
];

/// Labels whose attributes have other names.
const ATTRIBUTES: [(&str, &str); 14] = [
    ("mcp_method_name", "mcp.method.name"),
    ("gen_ai_tool_name", "gen_ai.tool.name"),
    ("error_type", "error.type"),
    ("tool", "loggia.facade"),
    ("action", "loggia.action"),
    ("outcome", "loggia.outcome"),
    ("state", "loggia.state"),
    ("result", "loggia.result"),
    ("upstream", "loggia.upstream"),
    ("guard", "loggia.guard"),
    ("reason", "loggia.reason"),
    ("runtime", "loggia.runtime"),
    ("status", "http.response.status_code"),
    ("version", "loggia.version"),
];

/// Finds a metric by its name for Prometheus.
pub(super) fn find_metric(prometheus: &str) -> Option<&'static MetricName> {
    METRICS.iter().find(|name| name.prometheus == prometheus)
}

/// Name of the attribute of a label.
pub(super) fn attribute_name(label: &'static str) -> &'static str {
    ATTRIBUTES.iter().find(|(name, _)| *name == label).map_or(label, |(_, attribute)| attribute)
}
