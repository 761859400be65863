//! Binding of steps to the actions that they call.
//!
//! A file names its tools; the facade and action behind a name depend on the facades that are served. A workflow is bound
//! when it is published, to find its effect, and again for each run, since facades come and go.
//!
//! | file | concept |
//! |---|---|
//! | `lookup.rs` | look-up of actions |
//! | `candidate.rs` | candidate meanings of a tool's name |
//! | `binder.rs` | binding: targets, arguments, effect |

mod binder;
mod candidate;
mod lookup;
mod saga;
#[cfg(test)]
mod tests;

pub(crate) use self::binder::lacks_scope;
pub use self::{
    binder::{BoundWorkflow, bind},
    candidate::ToolCandidate,
    lookup::ActionLookup,
};
