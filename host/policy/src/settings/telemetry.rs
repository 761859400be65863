//! `[telemetry]`.

use std::collections::BTreeMap;

use url::Url;

use super::{
    kind::ValueKind,
    quantity::{Span, within},
    table::table,
    upstream::{HiddenText, headers, not_empty},
    value::{text, values},
    web_url::web_url,
};
use crate::document::tree::Text;

const SECOND: Span = Span::seconds(1);
const HOUR: Span = Span::seconds(60 * 60);

table! {
    /// Traces and metrics for an OpenTelemetry collector (OTLP over HTTP). Without this table nothing is sent, whatever the
    /// environment says. Keys that it leaves out are read from OpenTelemetry's own variables, if they are set.
    pub struct Telemetry {
        /// URL of the collector; `/v1/traces` and `/v1/metrics` are appended. Default: `OTEL_EXPORTER_OTLP_ENDPOINT`, or
        /// `http://127.0.0.1:4318`.
        endpoint: Option<CollectorUrl> = None;
        /// Headers of each request to the collector, such as `authorization`. They need an `https://` endpoint, or one of this
        /// machine. Default: `OTEL_EXPORTER_OTLP_HEADERS`.
        headers: BTreeMap<String, HiddenText> = BTreeMap::new(), headers;
        /// Whether traces are sent.
        traces: bool = true;
        /// Whether metrics are sent.
        metrics: bool = true;
        /// Time between two transmissions of the metrics, 1s to 1h.
        interval: Span = Span::seconds(60), within(SECOND, HOUR);
        /// Share of the traces that is recorded, such as "5%". A request that continues a trace is recorded if that is. Default:
        /// `OTEL_TRACES_SAMPLER`, or all.
        sample: Option<SampleShare> = None;
        /// Name of this server in traces and metrics. Default: `OTEL_SERVICE_NAME`, or `loggia`.
        service_name: Option<String> = None, text(not_empty);
    }
}

/// URL of a collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectorUrl(pub Url);

/// Share of the traces that is recorded: 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleShare(pub f64);

values! {
    CollectorUrl, ValueKind::Text, text(|text| collector(&text.value));
    SampleShare, ValueKind::Text, text(share);
}

impl CollectorUrl {
    /// Parses a URL.
    ///
    /// # Errors
    ///
    /// What it must be.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        collector(text)
    }

    /// Returns true if requests are encrypted, or do not leave this machine.
    pub fn is_private(&self) -> bool {
        self.0.scheme() == "https" || super::web_url::is_loopback(&self.0)
    }
}

fn collector(text: &str) -> Result<CollectorUrl, &'static str> {
    const FORM: &str = "must be an http:// or https:// URL without a user name, password, query or fragment";
    let url = web_url(text).filter(|url| url.query().is_none() && url.fragment().is_none());
    url.map(CollectorUrl).ok_or(FORM)
}

fn share(text: &Text) -> Result<SampleShare, &'static str> {
    let percent = text.value.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    percent.map(|percent| SampleShare(percent / 100.0)).ok_or("must be 0% to 100%, such as \"5%\"")
}
