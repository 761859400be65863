//! The gate: the only way to run a facade.
//!
//! MCP calls, CLI calls, workflow steps and nested calls of plugins all pass the same checks here.
//!
//! ```text
//! Gate::start ─▶ plan (route, resolve, validate) ─▶ permits ─▶ dispatch ─▶ envelope
//!                                                                │
//!                   Exec ◀── progress · asks · done ◀── frame ◀──┘
//! ```
//!
//! | room | what it holds | may import |
//! |---|---|---|
//! | [`access`] | callers and their rights, and the rules of a facade | `failures` |
//! | [`guard`] | the guards of calls | `access` |
//! | [`flow`] | permits, quotas, CPU shares, circuit breakers, meters | and `access` |
//! | [`mail`] | messages between the hosts of a fleet | |
//! | [`tokens`] | token cost of tool lists | |
//! | [`catalog`] | the facades now served, and their published tools | and `flow`, `guard`, `tokens` |
//! | `plan` | pure: from a request to a validated call | and `catalog` |
//! | `results` | results that are longer than a client reads, cut and kept | `access`, `failures` |
//! | [`journal`] | what is recorded of runs that survive the host | and `plan` |
//! | [`approval`] | decisions of people that are made outside of the client | `journal` |
//! | [`run`] | the state of a call, and calls that outlive their request | and `journal` |
//! | [`schedule`] | which runtime polls a call | and `run` |
//! | [`call`] | a call from its request to its envelope; the front side, [`Gate`] and [`Exec`] | all |
//!
//! `failures` has the constructors of failures that callers read. No files, processes or sockets (enforced by clippy:
//! `clippy.toml`), and no types of MCP.

#![warn(unreachable_pub)]

pub mod access;
pub mod approval;
pub mod call;
pub mod catalog;
mod failures;
pub mod flow;
pub mod guard;
pub mod journal;
pub mod mail;
mod plan;
mod results;
pub mod run;
pub mod schedule;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tokens;

#[cfg(test)]
mod tests;

pub use call::{Exec, Gate};
