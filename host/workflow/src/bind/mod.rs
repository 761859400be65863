//! Which actions a workflow's steps call, and what these take.
//!
//! The definition names its tools; which facade and action that means is known only beside the facades that are served.
//! A workflow is bound when it is published, for its effect, and again for each run, since facades come and go.
//!
//! | file | concept |
//! |---|---|
//! | `peers.rs` | look-up of actions |
//! | `candidate.rs` | candidate meanings of a tool's name |
//! | `binder.rs` | binding: targets, arguments, effect |

mod binder;
mod candidate;
mod peers;
#[cfg(test)]
mod tests;

pub(crate) use self::binder::lacks_scope;
pub use self::{
    binder::{BoundWorkflow, bind},
    candidate::ToolCandidate,
    peers::ActionLookup,
};
