//! Traces and metrics for an OpenTelemetry collector: OTLP over HTTP, in protobuf. Nothing of it exists without `[telemetry]`.
//!
//! OpenTelemetry's own SDK is not used: it has a thread and a queue for each signal, and does not tell what it drops; its metrics
//! would count a second time what the gate counts already. Its messages are few.
//!
//! | file | concept |
//! |---|---|
//! | `options.rs` | pure: the settings, with the environment where they are silent |
//! | `sampler.rs` | pure: which traces are recorded |
//! | `span_queue.rs` | ended spans on their way from calls to the exporter; counts dropped ones |
//! | `message.rs` | OTLP's messages |
//! | `encode_spans.rs`, `encode_metrics.rs` | pure: spans and metrics as messages |
//! | `metric_names.rs` | all names of metrics and their attributes |
//! | `collector.rs` | requests to the collector |
//! | `exporter.rs` | the tasks that send, and their end |

mod collector;
mod encode_metrics;
mod encode_spans;
mod exporter;
mod message;
mod metric_names;
mod options;
mod sampler;
mod span_queue;

pub use self::{
    exporter::{OtlpExporter, SnapshotSource},
    options::OtlpOptions,
    span_queue::dropped,
};
