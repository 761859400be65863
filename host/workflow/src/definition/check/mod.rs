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

use super::{model::Workflow, place::join, report::ParseReport, template_use::TemplateUse};
use crate::FileProblem;

/// Warns of rules that only matter in a saga.
fn check_undo_rules(workflow: &Workflow, report: &mut ParseReport) {
    if workflow.saga.is_some() {
        return;
    }
    for (index, step) in workflow.steps.iter().enumerate().filter(|(_, step)| step.undo.is_some()) {
        let path = format!("{}[{index}]", join(&workflow.path, "steps"));
        let message = format!("{path}: compensate and irreversible have no effect without transaction: saga");
        report.warn(FileProblem::new(step.line, path, message));
    }
}

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
    check_undo_rules(workflow, report);
}
