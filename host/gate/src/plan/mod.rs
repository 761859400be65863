//! Pure: from a request to a validated call, or to an answer that needs none.

mod planned;
mod planner;

pub use planned::{AboutRun, Batch, Plan, Planned, Wanted};
pub use planner::{effect_allows, is_long, length, plan};
