//! A collector on loopback. It reads what is sent by OpenTelemetry's own definitions.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use anyhow::Result;
use loggia_tests::{
    eventually,
    web::{Answer, Asked, Web},
};
use opentelemetry_proto::tonic::{
    collector::{metrics::v1::ExportMetricsServiceRequest, trace::v1::ExportTraceServiceRequest},
    common::v1::{KeyValue, any_value::Value},
    metrics::v1::{Metric, metric::Data},
    resource::v1::Resource,
    trace::v1::{Span, span::SpanKind, status::StatusCode},
};
use prost::Message;

/// A collector that takes everything.
pub(super) struct Receiver {
    web: Web,
    taken: Arc<Mutex<Vec<Asked>>>,
}

/// Attributes as text, by name.
pub(super) type Attributes = BTreeMap<String, String>;

impl Receiver {
    pub(super) async fn start() -> Result<Self> {
        let taken = Arc::<Mutex<Vec<Asked>>>::default();
        let kept = Arc::clone(&taken);
        let web = Web::start(move |asked| {
            kept.lock().expect("a list").push(asked.clone());
            Answer::Plain(200, vec![("content-type", "application/x-protobuf".into())], Vec::new())
        })
        .await?;
        Ok(Self { web, taken })
    }

    /// Settings that send everything here, with further keys.
    pub(super) fn settings(&self, more: &str) -> String {
        format!("[telemetry]\nendpoint = \"{}\"\n{more}\n", self.web.url(""))
    }

    /// All requests so far.
    pub(super) fn requests(&self) -> Vec<Asked> {
        self.taken.lock().expect("a list").clone()
    }

    /// All spans so far, with the resource of each.
    pub(super) fn spans(&self) -> Vec<(Attributes, Span)> {
        let requests = self.requests().into_iter().filter(|asked| asked.path == "/v1/traces");
        let decoded = requests.flat_map(|asked| {
            assert_eq!(asked.headers["content-type"], "application/x-protobuf");
            ExportTraceServiceRequest::decode(&*asked.body).expect("spans").resource_spans
        });
        decoded
            .flat_map(|spans| {
                let resource = attributes_of(spans.resource);
                let spans = spans.scope_spans.into_iter().flat_map(|scope| scope.spans);
                spans.map(move |span| (resource.clone(), span)).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Waits until the spans satisfy a condition.
    pub(super) async fn spans_become(&self, such: impl Fn(&[Span]) -> bool) -> Vec<Span> {
        eventually(async || {
            let spans: Vec<Span> = self.spans().into_iter().map(|(_, span)| span).collect();
            if such(&spans) { Ok(spans) } else { Err(format!("{} spans: {spans:?}", spans.len())) }
        })
        .await
    }

    /// The metrics of the latest message, with the resource; none before the first.
    pub(super) fn metrics(&self) -> Option<(Attributes, Vec<Metric>)> {
        let last = self.requests().into_iter().rfind(|asked| asked.path == "/v1/metrics")?;
        let decoded = ExportMetricsServiceRequest::decode(&*last.body).expect("metrics");
        let metrics = decoded.resource_metrics.into_iter().next()?;
        let scopes = metrics.scope_metrics.into_iter().flat_map(|scope| scope.metrics);
        Some((attributes_of(metrics.resource), scopes.collect()))
    }
}

fn attributes_of(resource: Option<Resource>) -> Attributes {
    resource.map(|resource| to_texts(&resource.attributes)).unwrap_or_default()
}

/// Attributes as text.
pub(super) fn to_texts(attributes: &[KeyValue]) -> Attributes {
    let text = |attribute: &KeyValue| {
        let text = match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
            Some(Value::StringValue(text)) => text.clone(),
            Some(Value::IntValue(number)) => number.to_string(),
            Some(Value::DoubleValue(number)) => number.to_string(),
            Some(Value::BoolValue(flag)) => flag.to_string(),
            other => panic!("{attribute:?}: {other:?}"),
        };
        (attribute.key.clone(), text)
    };
    attributes.iter().map(text).collect()
}

/// The spans that belong to no other, in the order of their beginning.
pub(super) fn roots(spans: &[Span]) -> Vec<&Span> {
    let mut roots: Vec<&Span> =
        spans.iter().filter(|span| !spans.iter().any(|other| other.span_id == span.parent_span_id)).collect();
    roots.sort_by_key(|span| span.start_time_unix_nano);
    roots
}

/// Renders a span and those below it, one a line, with ids and times left out.
pub(super) fn render(root: &Span, spans: &[Span]) -> String {
    let mut lines = Vec::new();
    add_lines(root, spans, 0, &mut lines);
    lines.join("\n")
}

fn add_lines(span: &Span, spans: &[Span], depth: usize, lines: &mut Vec<String>) {
    assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
    let kind = match span.kind() {
        SpanKind::Server => " (server)",
        SpanKind::Client => " (client)",
        _ => "",
    };
    let status = span.status.as_ref().map(|status| status.code());
    let failed = if status == Some(StatusCode::Error) { " FAILED" } else { "" };
    let texts = to_texts(&span.attributes).into_iter().map(|(name, value)| match name.as_str() {
        "loggia.cpu.time" => {
            assert!(value.parse::<f64>().is_ok_and(|seconds| seconds > 0.0), "{value}");
            format!("{name}=<seconds>")
        }
        "loggia.memory.peak" => {
            assert!(value.parse::<u64>().is_ok_and(|bytes| bytes >= 65_536), "{value}");
            format!("{name}=<bytes>")
        }
        "loggia.plugin.digest" if value.starts_with("sha256:") => format!("{name}=<digest>"),
        "loggia.plugin.digest" => format!("{name}=<id>"),
        "server.port" => format!("{name}=<port>"),
        _ => format!("{name}={value}"),
    });
    let texts: Vec<_> = texts.collect();
    let indent = "  ".repeat(depth);
    lines.push(format!("{indent}{}{kind}{failed}", span.name));
    lines.extend(texts.iter().map(|text| format!("{indent}    {text}")));
    let mut below: Vec<&Span> = spans.iter().filter(|other| other.parent_span_id == span.span_id).collect();
    below.sort_by_key(|other| other.start_time_unix_nano);
    for other in below {
        assert_eq!(other.trace_id, span.trace_id);
        add_lines(other, spans, depth + 1, lines);
    }
}

/// Number of durations in a histogram with these attributes.
pub(super) fn count(metrics: &[Metric], name: &str, attributes: &[(&str, &str)]) -> Option<u64> {
    let Some(Data::Histogram(histogram)) = metrics.iter().find(|metric| metric.name == name)?.data.clone()
    else {
        panic!("{name} is no histogram");
    };
    let point = histogram.data_points.into_iter().find(|point| {
        let texts = to_texts(&point.attributes);
        attributes.iter().all(|(name, value)| texts.get(*name).is_some_and(|text| text == value))
    });
    point.map(|point| point.count)
}
