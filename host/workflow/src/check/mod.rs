//! What is wrong with a workflow that can be read, before anything runs.
//!
//! | file | concept |
//! |---|---|
//! | `order.rs` | dependencies: circles, and which steps have ended when one begins |
//! | `references.rs` | what templates refer to: parameters, steps, items |
//! | `defaults.rs` | what is referred to of steps that may be skipped |
//! | `toolhive.rs` | what never worked in ToolHive |

mod defaults;
mod order;
mod references;
#[cfg(test)]
mod tests;
mod toolhive;

use crate::{
    Workflow,
    definition::{place::Reading, uses::Use},
};

/// Checks a workflow. `whole`: all its steps are here.
pub(crate) fn workflow(workflow: &Workflow, uses: &[Use], whole: bool, reading: &mut Reading) {
    toolhive::notes(workflow, uses, reading);
    if !whole {
        return;
    }
    let before = order::check(workflow, reading);
    references::check(workflow, uses, before.as_deref(), reading);
    defaults::check(workflow, uses, reading);
}
