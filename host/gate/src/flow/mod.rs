//! Flow control and counters: which calls may run now.
//!
//! | file | concept |
//! |---|---|
//! | `permits.rs` | permits of root calls and of nested calls |
//! | `fair_pool.rs` | a semaphore with a share for each caller |
//! | `quotas.rs` | limits on unfinished calls per caller |
//! | `cpu_shares.rs` | CPU accounting between facades |
//! | `breaker.rs` | circuit breaker of a facade |
//! | `meters.rs` | counters, gauges and histograms in plain atomics |
//! | `call_counters.rs` | the meters of one facade, looked up once |

mod breaker;
mod call_counters;
mod cpu_shares;
mod fair_pool;
mod meters;
mod permits;
mod quotas;

pub use breaker::CircuitBreaker;
pub(crate) use call_counters::CallCounters;
pub(crate) use cpu_shares::CpuShares;
pub(crate) use meters::GaugeGuard;
pub use meters::{
    BUCKET_BOUNDS, CallOutcome, CallerMeters, Counter, FacadeMeters, GateMeters, Gauge, Histogram,
    HttpMeters, OTHER_NAME, OperationMeters,
};
pub(crate) use permits::{CallPermit, FacadeFlow, MAX_DEPTH, PermitHolder, PermitPools};
pub use quotas::CallerQuotas;
pub(crate) use quotas::{UnfinishedCalls, UnfinishedTicket};
