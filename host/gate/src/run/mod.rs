//! The state of a call, and calls that outlive their request (runs).
//!
//! | file | concept |
//! |---|---|
//! | `state.rs` | the state of one call, shared by all that handle it |
//! | `questions.rs` | its open questions |
//! | `approvals.rs` | the approvals for which it waits, as its caller sees them |
//! | `event.rs` | the events that its followers receive |
//! | `follow.rs` | these events, as one follower receives them |
//! | `status.rs` | running, waiting or ended |
//! | `trace.rs` | its latest progress and log lines |
//! | `weight.rs` | memory use of a kept outcome |
//! | `id.rs` | the unguessable handle of a run |
//! | `handle.rs` | a caller's view of a run |
//! | `registry.rs` | runs by their handles, with TTL and eviction |
//! | `cleanup.rs` | the time that a stopped call has to undo what it has done |
//! | `parked_clock.rs` | the time for which a call waits for a person |
//! | `wall_clock.rs` | wall clocks, which stand still meanwhile |
//! | `parking.rs` | calls that wait for a person |
//! | `report.rs` | pure: renders replies about runs |

mod approvals;
mod cleanup;
mod event;
mod follow;
mod handle;
mod id;
mod parked_clock;
mod parking;
mod questions;
mod registry;
pub(crate) mod report;
mod state;
mod status;
mod trace;
mod wall_clock;
mod weight;

pub use approvals::RunApproval;
pub(crate) use cleanup::CleanupTime;
pub use event::CallEvent;
pub(crate) use follow::EventCursor;
pub use handle::RunHandle;
pub use id::RunId;
pub(crate) use parking::ParkedCalls;
pub use registry::RUN_TTL;
pub(crate) use registry::RunRegistry;
pub(crate) use state::CallState;
pub use status::RunStatus;
