//! The settings of the exporter. Keys that `[telemetry]` leaves out are read from OpenTelemetry's own variables.

use std::{collections::BTreeMap, time::Duration};

use axum::http::{HeaderName, HeaderValue};
use loggia_policy::settings::{CollectorUrl, HiddenText, SampleShare, Telemetry};
use percent_encoding::percent_decode_str;

use super::sampler::TraceSampler;

const DEFAULT_ENDPOINT: &str = "http://127.0.0.1:4318";
const DEFAULT_NAME: &str = "loggia";
/// Attribute with the name of the server.
const SERVICE_NAME: &str = "service.name";
/// Pairs in a variable.
const MAX_PAIRS: usize = 64;

/// What is sent, and where to.
#[derive(Debug, Clone, PartialEq)]
pub struct OtlpOptions {
    /// URL of the collector, without the path of a signal.
    pub endpoint: CollectorUrl,
    /// Headers of each request.
    pub headers: Vec<(String, HiddenText)>,
    /// Which traces are recorded; `None`: none are.
    pub traces: Option<TraceSampler>,
    /// Time between two transmissions of the metrics; `None`: none are sent.
    pub metrics: Option<Duration>,
    /// Attributes of this server.
    pub resource: BTreeMap<String, String>,
}

impl OtlpOptions {
    /// Reads the settings. `None` if nothing is sent.
    ///
    /// # Errors
    ///
    /// The reason, if a variable of the environment is invalid, or headers would be sent in the clear.
    pub fn new(
        settings: Option<&Telemetry>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, String> {
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let Some(settings) = settings else { return Ok(None) };
        if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let endpoint = match (&settings.endpoint, variable("OTEL_EXPORTER_OTLP_ENDPOINT")) {
            (Some(endpoint), _) => endpoint.clone(),
            (None, endpoint) => CollectorUrl::parse(endpoint.as_deref().unwrap_or(DEFAULT_ENDPOINT))
                .map_err(|reason| format!("OTEL_EXPORTER_OTLP_ENDPOINT {reason}"))?,
        };
        let headers: Vec<_> = match settings.headers.is_empty() {
            false => settings.headers.clone().into_iter().collect(),
            true => {
                let pairs = variable("OTEL_EXPORTER_OTLP_HEADERS").map(|text| read_pairs(&text));
                let pairs = pairs
                    .transpose()
                    .map_err(|()| "OTEL_EXPORTER_OTLP_HEADERS is not a list of NAME=VALUE")?;
                let pairs = pairs.unwrap_or_default();
                let is_header = |(name, value): &(String, String)| {
                    name.parse::<HeaderName>().is_ok() && value.parse::<HeaderValue>().is_ok()
                };
                if !pairs.iter().all(is_header) {
                    return Err(
                        "OTEL_EXPORTER_OTLP_HEADERS has a name or a value that no header can have".to_owned()
                    );
                }
                pairs.into_iter().map(|(name, value)| (name, HiddenText(value))).collect()
            }
        };
        if !headers.is_empty() && !endpoint.is_private() {
            return Err("headers for the collector need an https:// endpoint, or one of this machine: set \
                        `telemetry.endpoint`"
                .to_owned());
        }
        let sampler = match settings.sample {
            Some(SampleShare(share)) => TraceSampler::of_share(share),
            None => {
                let (name, share) = (variable("OTEL_TRACES_SAMPLER"), variable("OTEL_TRACES_SAMPLER_ARG"));
                TraceSampler::of_variables(name.as_deref(), share.as_deref())?
            }
        };
        let attributes = variable("OTEL_RESOURCE_ATTRIBUTES").map(|text| read_pairs(&text)).transpose();
        let mut resource: BTreeMap<_, _> = attributes
            .map_err(|()| "OTEL_RESOURCE_ATTRIBUTES is not a list of NAME=VALUE")?
            .unwrap_or_default()
            .into_iter()
            .collect();
        if let Some(name) = settings.service_name.clone().or_else(|| variable("OTEL_SERVICE_NAME")) {
            resource.insert(SERVICE_NAME.to_owned(), name);
        }
        resource.entry(SERVICE_NAME.to_owned()).or_insert_with(|| DEFAULT_NAME.to_owned());
        let version = || env!("CARGO_PKG_VERSION").to_owned();
        resource.entry("service.version".to_owned()).or_insert_with(version);
        let options = Self {
            endpoint,
            headers,
            traces: settings.traces.then_some(sampler),
            metrics: settings.metrics.then_some(settings.interval.0),
            resource,
        };
        Ok((settings.traces || settings.metrics).then_some(options))
    }
}

/// Reads `NAME=VALUE,NAME=VALUE`, with values in percent-encoding.
fn read_pairs(text: &str) -> Result<Vec<(String, String)>, ()> {
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty()).take(MAX_PAIRS);
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').ok_or(())?;
        let value = percent_decode_str(value.trim()).decode_utf8().map_err(|_| ())?;
        let is_plain = !name.trim().is_empty() && !value.chars().any(char::is_control);
        is_plain.then(|| (name.trim().to_owned(), value.into_owned())).ok_or(())
    };
    pairs.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a table, with an environment in lines of `NAME=VALUE`. Returns all that was found, in words.
    fn read(table: Option<Telemetry>, environment: &str) -> String {
        let variable = |name: &str| {
            environment.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
        };
        match OtlpOptions::new(table.as_ref(), variable) {
            Ok(None) => "nothing".to_owned(),
            Err(reason) => reason,
            Ok(Some(OtlpOptions { endpoint, headers, traces, metrics, resource })) => {
                format!("{} {headers:?} {traces:?} {metrics:?} {resource:?}", endpoint.0)
            }
        }
    }

    #[test]
    fn the_environment_fills_what_settings_leave_out() {
        let table = Telemetry::default;
        let set = Telemetry {
            endpoint: CollectorUrl::parse("https://otlp.example.com/base").ok(),
            headers: BTreeMap::from([("api-key".to_owned(), HiddenText("secret".to_owned()))]),
            sample: Some(SampleShare(0.05)),
            service_name: Some("tools".to_owned()),
            ..table()
        };
        let all = "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:9999\nOTEL_EXPORTER_OTLP_HEADERS=a=b%20c, d=e\n\
                   OTEL_TRACES_SAMPLER=parentbased_traceidratio\nOTEL_TRACES_SAMPLER_ARG=0.25\n\
                   OTEL_SERVICE_NAME=ours\nOTEL_RESOURCE_ATTRIBUTES=service.name=no,deployment.environment.name=test";
        let cases = [
            ("no table", read(None, all)),
            ("empty table", read(Some(table()), "")),
            ("environment", read(Some(table()), all)),
            ("both", read(Some(set), all)),
            ("attributes alone", read(Some(table()), "OTEL_RESOURCE_ATTRIBUTES=service.name=ours")),
            ("disabled", read(Some(table()), "OTEL_SDK_DISABLED=TRUE")),
            ("neither", read(Some(Telemetry { traces: false, metrics: false, ..table() }), "")),
            ("metrics", read(Some(Telemetry { traces: false, ..table() }), "")),
            ("endpoint", read(Some(table()), "OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318")),
            ("headers", read(Some(table()), "OTEL_EXPORTER_OTLP_HEADERS=authorization")),
            ("no header", read(Some(table()), "OTEL_EXPORTER_OTLP_HEADERS=a b=c")),
            ("attributes", read(Some(table()), "OTEL_RESOURCE_ATTRIBUTES=a=%0a")),
            ("sampler", read(Some(table()), "OTEL_TRACES_SAMPLER=jaeger_remote")),
            (
                "in the clear",
                read(
                    Some(table()),
                    "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318\nOTEL_EXPORTER_OTLP_HEADERS=a=b",
                ),
            ),
        ];
        let lines: Vec<_> = cases.iter().map(|(name, found)| format!("{name}: {found}")).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
