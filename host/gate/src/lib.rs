//! The gate: the only way to run a facade.
//!
//! MCP calls, CLI calls, workflow steps and calls that a plugin makes to another facade all pass here, so the same
//! checks hold wherever a call began.
//!
//! ```text
//! Gate::start ─▶ plan (route, resolve, validate) ─▶ permits ─▶ dispatch ─▶ envelope
//!                                                                │
//!                   Exec ◀── progress · asks · done ◀── frame ◀──┘
//! ```
//!
//! | room | what it holds | may import |
//! |---|---|---|
//! | [`access`] | who calls, and what a caller and a facade may call | |
//! | [`flow`] | who may run now: permits, quotas, shares, breakers; what is counted | `access` |
//! | [`tokens`] | what a tool list costs a model | |
//! | [`catalog`] | which facades are served, as which tools | `access`, `flow`, `tokens` |
//! | [`plan`] | pure: from a request to a validated call | and `catalog` |
//! | [`run`] | the state of a call, and calls that outlive their request | and `plan` |
//! | [`schedule`] | on which runtime a call is polled | and `run` |
//! | [`call`] | a call from its request to its envelope; the front side, [`Gate`] and [`Exec`] | all |
//!
//! No files, processes or sockets (clippy holds it: `clippy.toml`), and no name of MCP's.

#![warn(unreachable_pub)]

pub mod access;
pub mod call;
pub mod catalog;
mod failures;
pub mod flow;
mod plan;
pub mod run;
pub mod schedule;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tokens;

#[cfg(test)]
mod tests;

pub use call::{Exec, Gate};
