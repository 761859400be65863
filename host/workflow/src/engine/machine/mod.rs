//! The state machine.
//!
//! | file | concept |
//! |---|---|
//! | `retry.rs` | pauses between attempts |
//! | `report.rs` | the report of a failed run |
//! | `run_machine.rs` | the machine during one transition, and the primitives of all transitions |
//! | `scheduler.rs` | which step starts when, and how a run ends |
//! | `repetition.rs` | steps that return to their beginning |
//! | `planning.rs` | steps of dry runs, which are planned and not made |
//! | `requests.rs` | what a call is requested with |
//! | `calls.rs`, `questions.rs`, `loops.rs` | transitions of calls, questions and `forEach` loops |
//! | `undoing.rs` | how a saga undoes what it has done |

mod calls;
mod loops;
mod planning;
mod questions;
mod repetition;
mod report;
mod requests;
mod retry;
mod run_machine;
mod scheduler;
mod undoing;

pub(super) use self::run_machine::RunMachine;
