//! A call from its request to its envelope.
//!
//! | file | concept |
//! |---|---|
//! | `gate.rs` | the front side: starts, finds and drains calls |
//! | `exec.rs` | the client's handle on one call |
//! | `about.rs` | requests about runs |
//! | `shared.rs` | what all calls share |
//! | `census.rs` | what the gate holds now |
//! | `answer.rs` | from a permit to an envelope |
//! | `frame.rs` | one call as its facade sees it |
//! | `port.rs` | the port that a facade is given |
//! | `peers.rs` | what a facade may know of others, and may call |
//! | `asking.rs` | questions to a person |
//! | `confirm.rs` | consent before an action |
//! | `timeout.rs` | wall-clock timeouts and whose fault they are |
//! | `chain.rs` | calls that follow a call |
//! | `batch.rs` | several calls in one |
//! | `audit.rs` | the audit trail; where calls are counted |
//! | `faults.rs` | faults in the log |

mod about;
mod answer;
mod asking;
mod audit;
mod batch;
mod census;
pub(crate) mod chain;
mod confirm;
mod exec;
mod faults;
mod frame;
mod gate;
mod peers;
mod port;
mod shared;
mod timeout;

pub use audit::{TARGET, is_on};
pub use census::{Census, Now};
pub use exec::Exec;
pub use gate::Gate;
