//! The state of a call, and calls that outlive their request.
//!
//! | file | concept |
//! |---|---|
//! | `state.rs` | the state that everything about one call shares |
//! | `questions.rs` | its open questions |
//! | `event.rs` | what its follower receives |
//! | `status.rs` | running, waiting, ended |
//! | `trace.rs` | its latest progress and log lines |
//! | `weight.rs` | how much memory it takes |
//! | `id.rs` | the unguessable handle of a run |
//! | `handle.rs` | a run as its caller looks at it |
//! | `registry.rs` | runs by their handles, until they are evicted |
//! | `parking.rs` | calls that wait for a person |
//! | `report.rs` | pure: replies about runs |

mod event;
mod handle;
mod id;
mod parking;
mod questions;
mod registry;
pub(crate) mod report;
mod state;
mod status;
mod trace;
mod weight;

pub use event::Event;
pub use handle::Look;
pub use id::RunId;
pub(crate) use parking::ParkedCalls;
pub use registry::KEPT;
pub(crate) use registry::RunRegistry;
pub(crate) use state::{CallState, EventCursor};
pub use status::Status;
