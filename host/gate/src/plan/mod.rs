//! Pure: from a request to a validated call, or to an answer that needs none.

mod planned;
mod planner;

pub use planned::{RunQuery, PlannedBatch, CallPlan, PlannedCall, RunRequest};
pub use planner::{effect_allows, has_large_arguments, text_size, plan_request};
