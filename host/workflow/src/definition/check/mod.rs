//! What is wrong with a workflow that can be read, before anything runs.
//!
//! | file | concept |
//! |---|---|
//! | `order.rs` | dependencies: circles, and which steps have ended when one begins |
//! | `references.rs` | what templates refer to: parameters, steps, items |
//! | `defaults.rs` | what is referred to of steps that may be skipped |
//! | `toolhive_notes.rs` | what never worked in ToolHive |

mod defaults;
mod order;
mod references;
#[cfg(test)]
mod tests;
mod toolhive_notes;

use super::{model::Workflow, report::ParseReport, template_use::TemplateUse};

/// Checks a workflow. `whole`: all its steps are here.
pub(crate) fn workflow(workflow: &Workflow, uses: &[TemplateUse], whole: bool, report: &mut ParseReport) {
    toolhive_notes::notes(workflow, uses, report);
    if !whole {
        return;
    }
    let before = order::check(workflow, report);
    references::check(workflow, uses, before.as_deref(), report);
    defaults::check(workflow, uses, report);
}
