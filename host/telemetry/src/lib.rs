//! Observability: logs, the audit file, metrics and traces.
//!
//! | file | concept |
//! |---|---|
//! | `logs.rs` | destination and level of the log |
//! | `trail.rs` | the file of the audit trail |
//! | `line/` | an event as one line, human-readable or JSON |
//! | `call_line.rs` | a call that ran as a line of the audit trail |
//! | `line_clock.rs` | the times of such lines |
//! | `client_disconnects.rs` | log events of rmcp that only report a disconnected client |
//! | `metrics.rs` | all metrics, and their page for Prometheus |
//! | `metric_sink.rs` | where metrics are written |
//! | `span_source.rs` | spans with the system's time and random ids |
//! | `otlp/` | traces and metrics for an OpenTelemetry collector |
//! | `classic.rs` | the same in Prometheus' older format |

mod call_line;
pub mod classic;
mod client_disconnects;
mod line;
mod line_clock;
pub mod logs;
mod metric_sink;
pub mod metrics;
pub mod otlp;
pub mod span_source;
pub mod trail;
