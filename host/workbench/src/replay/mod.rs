//! Replays of recorded calls.
//!
//! | file | concept |
//! |---|---|
//! | `replay_plan.rs` | plays one call from its recording, and takes what it did |
//! | `seed.rs` | the state that the call found |

mod replay_plan;
mod seed;

pub use self::{replay_plan::ReplayPlan, seed::seed_state};
