//! A call from its request to its envelope.
//!
//! | file | concept |
//! |---|---|
//! | `gate.rs` | the front side: starts, finds and drains calls |
//! | `exec.rs` | the client's handle on one call |
//! | `run_query.rs` | requests about runs |
//! | `gate_state.rs` | what all calls share |
//! | `snapshot.rs` | what the gate holds now |
//! | `answer.rs` | from a permit to an envelope |
//! | `frame.rs` | one call as its facade sees it |
//! | `port.rs` | the port that a facade is given |
//! | `peers.rs` | what a facade may know of others, and may call |
//! | `elicitation.rs` | questions to a person |
//! | `consent.rs` | consent before an action |
//! | `timeout.rs` | wall-clock timeouts and whose fault they are |
//! | `chain.rs` | calls that follow a call |
//! | `batch.rs` | several calls in one |
//! | `audit.rs` | the audit trail; where calls are counted |
//! | `fault_log.rs` | faults in the log |

mod answer;
mod audit;
mod batch;
pub(crate) mod chain;
mod consent;
mod elicitation;
mod exec;
mod fault_log;
mod frame;
mod gate;
mod gate_state;
mod peers;
mod port;
mod run_query;
mod snapshot;
mod timeout;

pub use audit::{TARGET, is_on};
pub use exec::Exec;
pub use gate::Gate;
pub use snapshot::{Census, Now};
