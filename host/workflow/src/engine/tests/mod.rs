//! The engine as a whole, by a clock that only jumps.
//!
//! The numbers are those of ToolHive's telling cases:
//!
//! - here: 9, 12, 16, 18–24, 26–30 and 32–39, each named where it is checked;
//! - in `engine::reply`: 7, 8 and 31;
//! - with the templates: 1–6, 10, 11, 13, 14 and 17; with the definition and its check: 15, 16 (which caps the count), 18,
//!   25 and 40;
//! - other than in ToolHive: 12 (the last step is found without a clock), 26 (one report for all timeouts), 27 (in a strict
//!   file the number stays one), 32 (a step waits for its own dependencies, not for a level), 35 (skipping the rest skips
//!   it), 37 (a number above a million is one).

mod aborts;
mod hostile;
mod items;
mod plans;
mod properties;
mod questions;
mod results;
mod scheduling;
mod simulator;
