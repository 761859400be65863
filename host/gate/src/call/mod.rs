//! A call from its request to its envelope.
//!
//! Four objects stand for one call, each for another side of it:
//!
//! - [`Exec`] is the client's handle: it polls the call's first slice, waits for its events, and cancels, detaches or
//!   answers it.
//! - `ScheduledCall` is the call as the executor polls it: the boxed future, with CPU accounting, panic isolation and
//!   cancellation around it.
//! - `CallState` is the state that all of them share: caller, progress, open questions, clock, outcome. It outlives the
//!   future as a run.
//! - `CallFrame` is the call as its facade's port sees it: one facade, one action, one permit. Nested calls have frames
//!   of their own, which share the `CallState` of their root call.
//!
//! ```text
//!  client ──polls──▶ Exec::next
//!                      │ first slice, inline            │ later: waits for CallState::changed
//!                      ▼                                ▼
//!                Executor::poll_inline            CallState ◀──────────────────────────┐
//!                      │ still pending: spawn           ▲ finish(envelope)             │
//!                      ▼                                │                              │
//!                a runtime ──polls──▶ ScheduledCall ────┘                              │
//!                                       │ polls its boxed future                       │
//!                                       ▼                                              │
//!                                     chain::run_chain, batch::run_batch               │ progress,
//!                                       │ one root call after another                  │ questions
//!                                       ▼                                              │
//!                                     answer_root ──owns──▶ CallFrame                  │
//!                                       │ polls                  ▲ holds               │
//!                                       ▼                        │                     │
//!                                     Facade::dispatch ──uses──▶ FramePort ────────────┘
//!                                       │ Port::invoke
//!                                       ▼
//!                                     answer_nested ──owns──▶ CallFrame { parent } ──polls──▶ Facade::dispatch
//! ```
//!
//! `Exec` owns the `ScheduledCall` until it is spawned; from then on the runtime's task owns it. `Exec`, the task, each
//! frame and the run registry own an `Arc` of the `CallState`. The state owns nothing that runs, so there is no cycle.
//!
//! | file | concept |
//! |---|---|
//! | `gate.rs` | the front side: starts, finds and drains calls |
//! | `exec.rs` | the client's handle on one call |
//! | `durable.rs` | calls that are recorded |
//! | `resumption.rs` | recorded runs go on after a restart |
//! | `start.rs` | calls that start by themselves |
//! | `run_query.rs` | answers `run_status` and `run_cancel` |
//! | `recorded_runs.rs` | runs of which only the journal knows |
//! | `gate_state.rs` | the state that all calls share |
//! | `snapshot.rs` | queues, breakers and runs at one moment |
//! | `answer.rs` | from a permit to an envelope |
//! | `answer_fit.rs` | results cut for clients that read only so much |
//! | `frame.rs` | one call as its facade sees it |
//! | `port.rs` | the port that a facade is given |
//! | `peers.rs` | which other facades a call may see and invoke |
//! | `elicitation.rs` | questions to a person |
//! | `checked_question.rs` | forms and links before they are shown, and their answers |
//! | `login.rs` | logins that a call needs first |
//! | `link.rs` | links that may be shown |
//! | `guarding.rs` | the guards of a call |
//! | `consent.rs` | confirmation before an action |
//! | `operator.rs` | questions to an operator, outside of the client |
//! | `operator_runs.rs` | runs of all callers, for operators |
//! | `timeout.rs` | wall-clock timeouts and their attribution |
//! | `chain.rs` | follow-up calls |
//! | `batch.rs` | several calls in one |
//! | `call_span.rs` | spans of calls |
//! | `audit.rs` | the audit trail; counts calls |
//! | `audit_request.rs` | a request as it was sent, for the line of one that is refused |
//! | `call_trail.rs` | lines of calls that ran |
//! | `fault_log.rs` | faults in the log |

mod answer;
mod answer_fit;
mod audit;
mod audit_request;
mod batch;
mod call_span;
mod call_trail;
pub(crate) mod chain;
mod checked_question;
mod consent;
mod durable;
mod elicitation;
mod exec;
mod fault_log;
mod frame;
mod gate;
mod gate_state;
mod guarding;
mod link;
mod login;
mod operator;
mod operator_runs;
mod peers;
mod port;
mod recorded_runs;
mod resumption;
mod run_query;
mod snapshot;
mod start;
mod timeout;

pub use call_trail::{CALL_TARGET, CallLine, CallTrail, ParamsDigest, TARGET, WaitingText, is_enabled};
pub use elicitation::CANNOT_ASK;
pub use exec::Exec;
pub use gate::{Gate, GateStores};
pub use operator_runs::{ListedRun, ShownRun};
pub use snapshot::{FacadeStatus, GateSnapshot, GuardCondition, GuardStatus};
pub use start::{CallStart, StartOutcome};
