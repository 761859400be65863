//! Who may run now, and what is counted.
//!
//! | file | concept |
//! |---|---|
//! | `permits.rs` | permits of root calls and of nested calls |
//! | `pool.rs` | a semaphore of which no caller takes all |
//! | `quotas.rs` | how much one caller may leave unfinished |
//! | `shares.rs` | CPU accounting between facades |
//! | `breaker.rs` | facades that fault repeatedly are refused for a while |
//! | `meters.rs` | counters, gauges and histograms in plain atomics |
//! | `counters.rs` | the meters of one facade, found once |

mod breaker;
mod counters;
mod meters;
mod permits;
mod pool;
mod quotas;
mod shares;

pub use breaker::Breaker;
pub(crate) use counters::Tally;
pub(crate) use meters::Inside;
pub use meters::{BOUNDS, Counter, Gauge, Histogram, Meters, OTHER, Operation, Outcome};
pub(crate) use permits::{DEPTH, Holder, Pace, Permit, Permits};
pub use quotas::Quotas;
pub(crate) use quotas::{Ticket, Unfinished};
pub(crate) use shares::Shares;
