//! Metrics as messages.

use std::{collections::BTreeMap, fmt, time::SystemTime};

use loggia_gate::flow::{BUCKET_BOUNDS, Histogram};
use prost::Message;

use super::{
    encode_spans::to_resource,
    message::{
        AttributeValue, ExportMetrics, GaugeData, HistogramData, HistogramPoint, KeyValue, MetricData,
        MetricMessage, NumberPoint, NumberValue, ResourceMetrics, ScopeMessage, ScopeMetrics, SumData,
        TemporalityCode,
    },
    metric_names::{attribute_name, find_metric},
};
use crate::{
    metric_sink::{Labels, MetricSink, MetricValue},
    metrics::MetricsSnapshot,
    span_source::nanoseconds,
};

/// Encodes all metrics as they are now. Counters began with the process.
pub(super) fn encode_metrics(
    snapshot: &MetricsSnapshot,
    now: SystemTime,
    resource: &BTreeMap<String, String>,
) -> Vec<u8> {
    let start = snapshot.process.map_or(now, |process| process.started);
    let mut families = FamilyList { start: nanoseconds(start), now: nanoseconds(now), metrics: Vec::new() };
    // Writing to a list does not fail.
    let _ = snapshot.write_to(&mut families);
    let scope_metrics = vec![ScopeMetrics { scope: ScopeMessage::own(), metrics: families.metrics }];
    let resource = Some(to_resource(resource));
    ExportMetrics { resource_metrics: vec![ResourceMetrics { resource, scope_metrics }] }.encode_to_vec()
}

/// Families as messages. Those without rows are left out.
struct FamilyList {
    start: u64,
    now: u64,
    metrics: Vec<MetricMessage>,
}

impl FamilyList {
    fn point<const N: usize>(&self, labels: Labels<'_, N>, value: MetricValue) -> NumberPoint {
        let value = match value {
            MetricValue::Integer(value) => NumberValue::Integer(i64::try_from(value).unwrap_or(i64::MAX)),
            MetricValue::Float(value) => NumberValue::Float(value),
        };
        NumberPoint {
            start_time_unix_nano: self.start,
            time_unix_nano: self.now,
            attributes: to_attributes(labels),
            value: Some(value),
        }
    }

    fn add(&mut self, name: &str, help: &str, data: MetricData) -> fmt::Result {
        let is_empty = match &data {
            MetricData::Gauge(gauge) => gauge.data_points.is_empty(),
            MetricData::Sum(sum) => sum.data_points.is_empty(),
            MetricData::Histogram(histogram) => histogram.data_points.is_empty(),
        };
        // A test has a row for every metric.
        if let Some(found) = find_metric(name).filter(|_| !is_empty) {
            let (name, unit) = (found.otlp.to_owned(), found.unit.to_owned());
            self.metrics.push(MetricMessage { name, description: help.to_owned(), unit, data: Some(data) });
        }
        Ok(())
    }
}

impl MetricSink for FamilyList {
    fn info<const N: usize>(&mut self, name: &str, help: &str, labels: Labels<'_, N>) -> fmt::Result {
        self.gauges(name, help, [(labels, 1u64)])
    }

    fn gauges<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, impl Into<MetricValue>)>,
    ) -> fmt::Result {
        let rows = rows.into_iter().map(|(labels, value)| self.point(labels, value.into()));
        let data = MetricData::Gauge(GaugeData { data_points: rows.collect() });
        self.add(name, help, data)
    }

    fn counters<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, impl Into<MetricValue>)>,
    ) -> fmt::Result {
        let rows = rows.into_iter().map(|(labels, value)| self.point(labels, value.into()));
        let data = MetricData::Sum(SumData {
            data_points: rows.collect(),
            aggregation_temporality: TemporalityCode::Cumulative.into(),
            is_monotonic: true,
        });
        self.add(name, help, data)
    }

    fn histograms<'l, 't, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, &'t Histogram)>,
    ) -> fmt::Result {
        let rows = rows.into_iter().map(|(labels, times)| {
            let (sum, counts) = times.totals();
            HistogramPoint {
                start_time_unix_nano: self.start,
                time_unix_nano: self.now,
                count: counts.iter().sum(),
                sum: Some(sum),
                bucket_counts: counts.to_vec(),
                explicit_bounds: BUCKET_BOUNDS.to_vec(),
                attributes: to_attributes(labels),
            }
        });
        let data = MetricData::Histogram(HistogramData {
            data_points: rows.collect(),
            aggregation_temporality: TemporalityCode::Cumulative.into(),
        });
        self.add(name, help, data)
    }
}

/// Converts labels. An empty one, such as `error_type` of a success, is no attribute.
fn to_attributes<const N: usize>(labels: Labels<'_, N>) -> Vec<KeyValue> {
    let labels = labels.into_iter().filter(|(_, value)| !value.is_empty());
    labels
        .map(|(name, value)| KeyValue::new(attribute_name(name), AttributeValue::Text(value.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use opentelemetry_proto::tonic::{
        collector::metrics::v1::ExportMetricsServiceRequest,
        common::v1::{KeyValue, any_value::Value},
        metrics::v1::{metric::Data, number_data_point},
    };

    use super::*;
    use crate::{
        metrics,
        otlp::metric_names::{METRICS, MetricName},
    };

    fn labels(attributes: &[KeyValue]) -> String {
        let text =
            |attribute: &KeyValue| match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
                Some(Value::StringValue(text)) => format!("{}={text}", attribute.key),
                other => format!("{}: {other:?}", attribute.key),
            };
        attributes.iter().map(text).collect::<Vec<_>>().join(" ")
    }

    /// Renders metrics as OpenTelemetry's definitions read them.
    fn render(message: &[u8]) -> Vec<String> {
        let request = ExportMetricsServiceRequest::decode(message).unwrap();
        let [resource] = request.resource_metrics.as_slice() else { panic!("{request:?}") };
        let mut lines = vec![labels(&resource.resource.as_ref().unwrap().attributes)];
        for metric in &resource.scope_metrics[0].metrics {
            let (kind, rows): (_, Vec<String>) = match metric.data.as_ref().unwrap() {
                Data::Gauge(gauge) => ("gauge", gauge.data_points.iter().map(point).collect()),
                Data::Sum(sum) => {
                    assert_eq!((sum.aggregation_temporality, sum.is_monotonic), (2, true));
                    ("sum", sum.data_points.iter().map(point).collect())
                }
                Data::Histogram(histogram) => {
                    assert_eq!(histogram.aggregation_temporality, 2);
                    let row = |row: &opentelemetry_proto::tonic::metrics::v1::HistogramDataPoint| {
                        assert_eq!((row.explicit_bounds.len(), row.bucket_counts.len()), (14, 15));
                        let (sum, counts) = (row.sum.unwrap(), &row.bucket_counts);
                        format!("{} count {} sum {sum} {counts:?}", labels(&row.attributes), row.count)
                    };
                    ("histogram", histogram.data_points.iter().map(row).collect())
                }
                other => panic!("{other:?}"),
            };
            lines.push(format!("{} [{}] {kind}: {}", metric.name, metric.unit, metric.description));
            lines.extend(rows.into_iter().map(|row| format!("  {row}")));
        }
        lines
    }

    fn point(point: &opentelemetry_proto::tonic::metrics::v1::NumberDataPoint) -> String {
        assert!(point.start_time_unix_nano < point.time_unix_nano);
        let value = match point.value.unwrap() {
            number_data_point::Value::AsInt(value) => value.to_string(),
            number_data_point::Value::AsDouble(value) => value.to_string(),
        };
        format!("{} {value}", labels(&point.attributes))
    }

    #[test]
    fn metrics_have_the_names_of_opentelemetry() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_900_000_000);
        let resource = BTreeMap::from([("service.name".to_owned(), "loggia".to_owned())]);
        let lines = render(&encode_metrics(&metrics::tests::figures(), now, &resource));
        for MetricName { otlp, .. } in METRICS {
            assert!(lines.iter().any(|line| line.starts_with(&format!("{otlp} ["))), "{otlp}");
        }
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn every_metric_of_the_page_has_a_name() {
        let page = metrics::render(metrics::tests::figures());
        let families = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
        let unnamed: Vec<_> = families.filter(|(name, _)| find_metric(name).is_none()).collect();
        assert!(unnamed.is_empty(), "{unnamed:?}");
    }
}
