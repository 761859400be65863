//! Tests of the whole engine, with a simulated clock.
//!
//! Case numbers are those of ToolHive's key cases, all listed in `toolhive`.

mod aborts;
mod dry_runs;
mod hostile;
mod interplay;
mod items;
mod memory;
mod plans;
mod positions;
mod properties;
mod questions;
mod results;
mod sagas;
mod scheduling;
mod simulator;
mod toolhive;
