//! What Loggia does with JSON Schema. Pure: no I/O, no async, no WebAssembly, no MCP; the gate uses it for every call,
//! and the SDK's `testing` module uses it natively, so that a facade is tested by the rules it will meet.
//!
//! A facade's [`Surface`](loggia_facade::Surface) becomes a [`Contract`]: checked against the bounds, with its published
//! form made. A call then goes through three steps:
//!
//! ```text
//! arguments ──route──▶ command, action, parameters ──prepare──▶ complete, valid parameters
//!                └──▶ describe
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | `contract` | holds the parts together; finds actions |
//! | `bounds`, `limits` | what a surface may hold |
//! | `resolve` | an author's schema, in the one form that the rest works on |
//! | `rules` | one action's schema, made ready: validator, shape, plan, signature, example |
//! | `shape`, `words` | what a model needs to see of a schema: its kinds, and its bounds in words |
//! | `publish`, `flat` | what an MCP client sees |
//! | `signature`, `describe` | the same in one line, and on demand |
//! | `route` | arguments in any accepted shape |
//! | `plan`, `coerce`, `prepare` | defaults, harmless slips, strict validation |
//! | `explain`, `fault`, `alternatives`, `example` | errors that teach |
//! | `text`, `show` | text that hides nothing; values cut to what is worth reading |

#![allow(
    clippy::result_large_err,
    reason = "a Failure is large, told once, and never on a path that must be fast"
)]

mod alternatives;
mod bounds;
mod coerce;
mod contract;
mod describe;
mod example;
mod explain;
mod fault;
#[cfg(test)]
mod fixture;
mod flat;
mod formats;
mod keywords;
pub mod limits;
mod plan;
mod prepare;
mod publish;
mod resolve;
mod route;
mod rules;
mod shape;
mod show;
mod signature;
mod text;
mod words;

pub use bounds::Problems;
pub use contract::Contract;
pub use prepare::Prepared;
pub use publish::Published;
pub use route::{Refused, Routed, Target};
pub use text::{sanitise, sanitise_line, sanitise_surface};
