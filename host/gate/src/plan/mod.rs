//! Pure: from a request to a validated call, or to an answer that needs none.

mod planned;
mod planner;

pub(crate) use planned::{CallPlan, PlannedBatch, PlannedCall, RunQuery, RunRequest};
pub(crate) use planner::{effect_allows, has_large_arguments, plan_request, text_size};
