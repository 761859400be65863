//! Reports of failed runs, for the caller.

use std::sync::Arc;

use loggia_facade::{Failure, Object, code};
use serde_json::Value;

use crate::{
    definition::StepKind,
    engine::{
        failure::{SecretRedactor, TEMPLATE},
        model::{RunPlan, RunReport},
        state::{RunState, StepEnd, StepPhase},
    },
};

/// Reason for which a run stops.
#[derive(Default)]
pub(crate) struct RunStop {
    pub code: &'static str,
    pub message: String,
    /// Step that caused the stop.
    pub step: Option<usize>,
    pub cause: Option<Failure>,
    pub inputs: Option<Object>,
}

/// Builds the report of a run that ends now.
pub(crate) fn build_report(plan: &RunPlan, state: &RunState, cut: RunStop) -> RunReport {
    let workflow = &plan.workflow;
    let redaction = redactor(plan, state);
    let phases = || {
        let steps = workflow.steps.iter().zip(&state.phases).enumerate();
        steps.map(|(index, (step, phase))| (index, step.id.as_str(), phase))
    };
    let which = |wanted: fn(&StepPhase) -> bool| -> Vec<String> {
        let wanted = phases().filter(|(index, _, phase)| cut.step != Some(*index) && wanted(phase));
        wanted.map(|(_, id, _)| id.to_owned()).collect()
    };
    // A declined question ends the workflow but is no failure.
    let ended_it = cut.step.filter(|_| cut.code != code::CANCELLED);
    let has_failed = |(index, _, phase): &(usize, &str, &StepPhase)| {
        ended_it == Some(*index)
            || cut.step != Some(*index) && matches!(phase, StepPhase::Ended(StepEnd::Failed))
    };
    let failed = phases().filter(has_failed).map(|(_, id, _)| id.to_owned()).collect();
    let completed = which(|phase| matches!(phase, StepPhase::Ended(StepEnd::Completed)));
    // Read-only calls and questions have no lasting effects.
    let changes =
        |index: usize| plan.targets.get(index).and_then(Option::as_ref).is_some_and(|target| target.changes);
    let done: Vec<String> = phases()
        .filter(|(index, _, phase)| changes(*index) && matches!(phase, StepPhase::Ended(StepEnd::Completed)))
        .map(|(_, id, _)| id.to_owned())
        .collect();
    let stopped = which(|phase| !matches!(phase, StepPhase::Ended(_) | StepPhase::Waiting));
    let inputs = cut.inputs.as_ref().map(|inputs| {
        let target = cut.step.and_then(|step| plan.targets.get(step)?.as_ref());
        let nothing = Object::new();
        redaction.redact_inputs(target.map_or(&nothing, |target| &target.params), inputs)
    });
    RunReport {
        code: cut.code.to_owned(),
        message: redaction.redact_sentence(&cut.message),
        workflow: workflow.name.clone(),
        step: cut.step.map(|step| workflow.steps[step].id.clone()),
        hint: redaction.redact_sentence(&hint(&cut, &done, &stopped)),
        cause: cut.cause.as_ref().map(|cause| shown(cause, &redaction)),
        inputs,
        failed,
        skipped: which(|phase| matches!(phase, StepPhase::Ended(StepEnd::Skipped))),
        not_run: which(|phase| matches!(phase, StepPhase::Waiting)),
        completed,
        stopped,
    }
}

/// Returns the redactor for texts of this run. It hides secrets of the caller and of people's answers.
pub(crate) fn redactor(plan: &RunPlan, state: &RunState) -> Arc<SecretRedactor> {
    let of_all = || {
        let workflow = &plan.workflow;
        let params = state.context.params().map(|params| (&workflow.parameters, params));
        let answers = workflow.steps.iter().filter_map(|step| match &step.kind {
            StepKind::Ask(ask) => Some((&ask.schema, state.context.step(&step.id)?.get("content")?)),
            _ => None,
        });
        Arc::new(SecretRedactor::from_inputs(params.into_iter().chain(answers)))
    };
    Arc::clone(state.secrets.get_or_init(of_all))
}

/// Converts to `{code, error, hint?}`.
fn shown(cause: &Failure, redaction: &SecretRedactor) -> Value {
    let mut out = Object::new();
    out.insert("code".to_owned(), redaction.redact_sentence(&cause.code).into());
    out.insert("error".to_owned(), redaction.redact_sentence(&cause.message).into());
    if let Some(hint) = &cause.hint {
        out.insert("hint".to_owned(), redaction.redact_sentence(hint).into());
    }
    Value::Object(out)
}

/// Builds the hint: how to handle the cause, and which effects remain.
fn hint(cut: &RunStop, done: &[String], stopped: &[String]) -> String {
    let mut said = Vec::new();
    match (cut.cause.as_ref().and_then(|cause| cause.hint.as_deref()), cut.step) {
        // Another sentence follows, so this one needs a full stop.
        (Some(hint), _) if hint.ends_with(['.', '!', '?']) => said.push(hint.to_owned()),
        (Some(hint), _) => said.push(format!("{hint}.")),
        // A declined question, as opposed to a cancelled workflow, which has no step.
        (None, Some(_)) if cut.code == code::CANCELLED => {
            said.push("The person did not agree; do not call again unless they want it.".to_owned());
        }
        (None, Some(_)) if cut.code == code::TIMED_OUT => {
            said.push("Call the workflow again, or give the step a longer `timeout`.".to_owned());
        }
        // Callers cannot fix a template.
        (None, Some(_)) if cut.cause.as_ref().is_some_and(|cause| cause.code == TEMPLATE) => {
            let parameters = "Call the workflow again with other parameters, if these led to it;";
            said.push(format!("{parameters} otherwise its file is to be mended."));
        }
        (None, Some(_)) => {
            said.push("Mend what the step complains of, then call the workflow again.".to_owned())
        }
        (None, None) if cut.code == code::TIMED_OUT => {
            said.push("Call the workflow again, or give it a longer `timeout`.".to_owned());
        }
        (None, None) => said.push("Call the workflow again.".to_owned()),
    }
    if !done.is_empty() {
        said.push(format!("What {} did stays done; a new run does it again.", names(done)));
    }
    if !stopped.is_empty() {
        said.push(format!("What {} did nobody knows; look before you call again.", names(stopped)));
    }
    said.join(" ")
}

/// Formats names: `` `a`, `b` and 3 more ``
fn names(steps: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut shown: Vec<String> = steps.iter().take(SHOWN).map(|step| format!("`{step}`")).collect();
    if steps.len() > SHOWN {
        shown.push(format!("{} more", steps.len() - SHOWN));
    }
    match shown.pop() {
        Some(last) if shown.is_empty() => last,
        Some(last) => format!("{} and {last}", shown.join(", ")),
        None => String::new(),
    }
}
