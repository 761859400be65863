//! The running host: assembly, admin listener and shutdown. The MCP server itself is `loggia-server`.
//!
//! | file | concept |
//! |---|---|
//! | `host.rs` | assembles engine, cache, catalog, gate and loader |
//! | `stores.rs` | opens the records of runs and approvals |
//! | `fleet.rs` | a host as one of several that share a database |
//! | `admin/` | health, readiness, metrics, credentials and approvals |
//! | `form_fields.rs` | pure: the fields of a question's form |
//! | `page/` | the page of operators |
//! | `metrics_source.rs` | the metrics of a running host |
//! | `readiness.rs` | pure: whether the server should receive traffic |
//! | `approvals/` | approvals of people whom clients cannot ask |
//! | `rates.rs` | shares the rates of callers with other servers |
//! | `revocation_record.rs` | revoked tokens, as recorded |
//! | `revocations.rs` | follows the record of revoked tokens |
//! | `signature.rs` | pure: signatures of webhooks |
//! | `signals/` | shutdown signals |
//! | `starts/` | workflows that start by themselves |
//! | `state_observer.rs` | the state of plugins, for subscriptions to resources |
//! | `memory.rs` | settings of the allocator |
//! | `io_runtime.rs` | threads that serve clients |
//! | `runtimes.rs` | threads of calls |
//! | `vitals/` | resource usage, logged on SIGUSR1 |

pub mod admin;
pub mod approvals;
mod fleet;
pub mod form_fields;
mod host;
mod io_runtime;
pub mod memory;
mod metrics_source;
pub mod page;
pub mod rates;
mod readiness;
pub mod revocation_record;
pub mod revocations;
mod runtimes;
pub mod signals;
mod signature;
pub mod starts;
mod state_observer;
mod stores;
pub mod vitals;

pub use host::{HostOptions, PluginHost, StartError};
pub use io_runtime::{io_runtime, shared_io_runtime};
pub use metrics_source::start_telemetry;
pub use state_observer::StoreObserver;
