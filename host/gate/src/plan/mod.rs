//! Pure: plans a request as a validated call, several calls, or an answer that needs no call.
//!
//! | file | concept |
//! |---|---|
//! | `planned.rs` | the kinds of plans |
//! | `planner.rs` | routes, resolves and validates a request |

mod planned;
mod planner;

pub(crate) use planned::{CallPlan, PlannedBatch, PlannedCall, RunQuery, RunRequest};
pub(crate) use planner::{
    arguments_size, effect_allows, has_large_arguments, plan_request, replace_params, text_size,
};
