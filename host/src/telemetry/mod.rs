//! Observability: logs, the audit file and metrics.
//!
//! | file | concept |
//! |---|---|
//! | `logs.rs` | destination and level of the log |
//! | `trail.rs` | the file of the audit trail |
//! | `line/` | an event as one line, human-readable or JSON |
//! | `client_disconnects.rs` | log events of rmcp that only report a disconnected client |
//! | `metrics.rs` | all metrics, as OpenMetrics |
//! | `classic.rs` | the same in Prometheus' older format |

pub mod classic;
mod client_disconnects;
mod line;
pub mod logs;
pub mod metrics;
pub mod trail;
