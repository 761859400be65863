//! The engine as a whole, by a clock that only jumps.
//!
//! The numbers are those of ToolHive's telling cases. Elsewhere are: 1–8, 10, 11, 13, 14, 17 (templates); 15, 18, 25, 40
//! (the definition's check); 7, 8, 31 (`reply`); 16 too, of which the definition caps the count.

mod aborts;
mod items;
mod plans;
mod properties;
mod questions;
mod results;
mod scheduling;
mod simulator;
