//! Bounded output.
//!
//! | file | concept |
//! |---|---|
//! | `budget.rs` | step and memory budget of a run, and the arena of its texts |
//! | `writer.rs` | texts with a size limit that is enforced while writing |

mod budget;
mod writer;

pub(super) use self::{
    budget::RunBudget,
    writer::{TextWriter, build_text},
};
