//! The state machine.
//!
//! | file | concept |
//! |---|---|
//! | `retry.rs` | pauses between attempts |
//! | `report.rs` | the report of a failed run |
//! | `scheduler.rs` | which step starts when, and how a run ends |
//! | `calls.rs`, `questions.rs`, `loops.rs` | transitions of calls, questions and `forEach` loops |

mod calls;
mod loops;
mod questions;
mod report;
mod retry;
mod scheduler;

pub(super) use self::scheduler::RunMachine;
