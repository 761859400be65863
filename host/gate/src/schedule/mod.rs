//! Where and when a call is polled.
//!
//! | file | concept |
//! |---|---|
//! | `executor.rs` | chooses the runtime: inline, `calls`, or `heavy` |
//! | `scheduled_call.rs` | one call as the executor polls it |

mod executor;
mod scheduled_call;

pub(crate) use executor::run_cpu_bound;
pub use executor::{Executor, InlinePolicy, RuntimeHandles};
pub(crate) use scheduled_call::ScheduledCall;
