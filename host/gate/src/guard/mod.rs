//! Guards: components that look at the calls of facades.
//!
//! | file | concept |
//! |---|---|
//! | `rule.rs` | which calls a guard looks at |
//! | `look.rs` | how looks end, counted |
//! | `post.rs` | one guard, as it is loaded now |
//! | `roster.rs` | all guards of a host, and those of a facade |

mod look;
mod post;
mod roster;
mod rule;

pub use look::GuardLook;
pub use post::{GuardPost, GuardState};
pub use roster::GuardRoster;
pub use rule::{GuardReach, GuardRule};
