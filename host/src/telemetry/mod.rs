//! What is told to who runs the host: logs and metrics.
//!
//! | file | concept |
//! |---|---|
//! | `logs.rs` | where the log goes, how much of it, and lines that nobody reads |
//! | `trail.rs` | the file of the audit trail |
//! | `line.rs` | an event as one line, for people or as JSON |
//! | `client_disconnects.rs` | log events of rmcp that only report a disconnected client |
//! | `metrics.rs` | the same as Prometheus reads it: every name |
//! | `classic.rs` | that page in Prometheus' older format |

pub mod classic;
mod client_disconnects;
mod line;
pub mod logs;
pub mod metrics;
pub mod trail;
