//! The engine as a whole, by a clock that only jumps.
//!
//! The numbers of cases are those of ToolHive's telling ones: `toolhive` lists them all.

mod aborts;
mod hostile;
mod interplay;
mod items;
mod memory;
mod plans;
mod positions;
mod properties;
mod questions;
mod results;
mod scheduling;
mod simulator;
mod toolhive;
