//! Spans as messages.

use std::collections::BTreeMap;

use loggia_facade::trace::{SpanKind, SpanRecord, SpanValue};
use prost::Message;

use super::message::{
    AttributeValue, ExportTraces, KeyValue, KindCode, ResourceMessage, ResourceSpans, ScopeMessage,
    ScopeSpans, SpanMessage, SpanStatus, StatusCode,
};

/// `flags` of a span: that it is known whether its parent is of another program is not claimed; the lowest bit is `sampled`.
const SAMPLED: u32 = 1;

/// Encodes a batch of spans.
pub(super) fn encode_spans(spans: Vec<SpanRecord>, resource: &BTreeMap<String, String>) -> Vec<u8> {
    let spans = spans.into_iter().map(to_message).collect();
    let scope_spans = vec![ScopeSpans { scope: ScopeMessage::own(), spans }];
    let resource_spans = vec![ResourceSpans { resource: Some(to_resource(resource)), scope_spans }];
    ExportTraces { resource_spans }.encode_to_vec()
}

/// Converts the attributes of this server.
pub(super) fn to_resource(attributes: &BTreeMap<String, String>) -> ResourceMessage {
    let attribute =
        |(name, value): (&String, &String)| KeyValue::new(name, AttributeValue::Text(value.clone()));
    ResourceMessage { attributes: attributes.iter().map(attribute).collect() }
}

fn to_message(span: SpanRecord) -> SpanMessage {
    let SpanRecord { name, kind, context, parent, start, end, attributes, has_failed } = span;
    let kind = match kind {
        SpanKind::Internal => KindCode::Internal,
        SpanKind::Server => KindCode::Server,
        SpanKind::Client => KindCode::Client,
    };
    SpanMessage {
        trace_id: context.trace.to_vec(),
        span_id: context.span.to_vec(),
        trace_state: context.state.as_deref().unwrap_or_default().to_owned(),
        parent_span_id: parent.map(|parent| parent.to_vec()).unwrap_or_default(),
        name,
        kind: kind.into(),
        start_time_unix_nano: start,
        end_time_unix_nano: end,
        attributes: attributes
            .into_iter()
            .map(|(name, value)| KeyValue::new(name, to_value(value)))
            .collect(),
        status: has_failed.then(|| SpanStatus { code: StatusCode::Error.into() }),
        flags: SAMPLED,
    }
}

fn to_value(value: SpanValue) -> AttributeValue {
    match value {
        SpanValue::Text(text) => AttributeValue::Text(text),
        SpanValue::Integer(number) => AttributeValue::Integer(number),
        SpanValue::Float(number) => AttributeValue::Float(number),
        SpanValue::Flag(flag) => AttributeValue::Flag(flag),
    }
}
