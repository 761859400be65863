//! Checks of a parsed workflow, before anything runs.
//!
//! | file | concept |
//! |---|---|
//! | `order.rs` | dependencies: cycles, and the steps that have ended when one begins |
//! | `references.rs` | references of templates to parameters, steps and items |
//! | `defaults.rs` | references to steps that may be skipped |
//! | `toolhive_notes.rs` | constructs that never worked in ToolHive |

mod defaults;
mod order;
mod references;
#[cfg(test)]
mod tests;
mod toolhive_notes;

use super::{model::Workflow, report::ParseReport, template_use::TemplateUse};

/// Checks a workflow. `is_complete`: no steps were cut off.
pub(crate) fn check_workflow(
    workflow: &Workflow,
    uses: &[TemplateUse],
    is_complete: bool,
    report: &mut ParseReport,
) {
    toolhive_notes::add_notes(workflow, uses, report);
    if !is_complete {
        return;
    }
    let before = order::check_order(workflow, report);
    references::check_references(workflow, uses, before.as_deref(), report);
    defaults::check_defaults(workflow, uses, report);
}
