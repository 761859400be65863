//! Where metrics are written: a page for Prometheus, or messages of OTLP.

use std::fmt;

use loggia_gate::flow::Histogram;

/// Labels of one row, by their names.
pub(super) type Labels<'a, const N: usize> = [(&'static str, &'a str); N];

/// Value of a gauge or counter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MetricValue {
    Integer(u64),
    Float(f64),
}

impl From<u64> for MetricValue {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<usize> for MetricValue {
    fn from(value: usize) -> Self {
        Self::Integer(value as u64)
    }
}

impl From<f64> for MetricValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

/// Takes families of metrics, by the names that Prometheus has for them.
pub(super) trait MetricSink {
    /// Writes facts that do not change, as labels.
    fn info<const N: usize>(&mut self, name: &str, help: &str, labels: Labels<'_, N>) -> fmt::Result;

    /// Writes values that rise and fall.
    fn gauges<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, impl Into<MetricValue>)>,
    ) -> fmt::Result;

    /// Writes values that only rise.
    fn counters<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, impl Into<MetricValue>)>,
    ) -> fmt::Result;

    /// Writes durations.
    fn histograms<'l, 't, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, &'t Histogram)>,
    ) -> fmt::Result;

    /// Writes one value that rises and falls.
    fn gauge(&mut self, name: &str, help: &str, value: impl Into<MetricValue>) -> fmt::Result {
        self.gauges(name, help, [([], value)])
    }

    /// Writes one value that only rises.
    fn counter(&mut self, name: &str, help: &str, value: impl Into<MetricValue>) -> fmt::Result {
        self.counters(name, help, [([], value)])
    }
}
