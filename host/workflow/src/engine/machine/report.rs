//! Reports of failed runs, for the caller.

use std::sync::Arc;

use loggia_facade::{Failure, Object, code};
use serde_json::Value;

use crate::{
    definition::StepKind,
    engine::{
        failure::{SecretRedactor, TEMPLATE},
        model::{FailedUndo, RunPlan, RunReport, UndoReport},
        state::{RunState, RunStop, StepEnd, StepPhase, UndoStatus},
    },
};

/// Builds the report of a run that ends now.
pub(crate) fn build_report(plan: &RunPlan, state: &RunState, stop: RunStop) -> RunReport {
    let workflow = &plan.workflow;
    let redactor = redactor(plan, state);
    let phases = || {
        let steps = workflow.steps.iter().zip(&state.phases).enumerate();
        steps.map(|(index, (step, phase))| (index, step.id.as_str(), phase))
    };
    let ids_in_phase = |wanted: fn(&StepPhase) -> bool| -> Vec<String> {
        let wanted = phases().filter(|(index, _, phase)| stop.step != Some(*index) && wanted(phase));
        wanted.map(|(_, id, _)| id.to_owned()).collect()
    };
    // A declined question ends the workflow but is no failure.
    let ended_it = stop.step.filter(|_| stop.code != code::CANCELLED);
    let has_failed = |(index, _, phase): &(usize, &str, &StepPhase)| {
        ended_it == Some(*index)
            || stop.step != Some(*index) && matches!(phase, StepPhase::Ended(StepEnd::Failed))
    };
    let failed = phases().filter(has_failed).map(|(_, id, _)| id.to_owned()).collect();
    let completed = ids_in_phase(|phase| matches!(phase, StepPhase::Ended(StepEnd::Completed)));
    let stopped = ids_in_phase(|phase| match phase {
        StepPhase::Waiting => false,
        StepPhase::Ended(end) => *end == StepEnd::Stopped,
        _ => true,
    });
    let undo = workflow.saga.as_ref().map(|_| build_undo_report(plan, state, &redactor));
    let effects = match &undo {
        Some(undo) => hint_about_saga(undo),
        None => {
            // Read-only calls and questions have no lasting effects.
            let has_effect = |(index, _, phase): &(usize, &str, &StepPhase)| {
                plan.changes(*index) && matches!(phase, StepPhase::Ended(StepEnd::Completed))
            };
            let done: Vec<String> = phases().filter(has_effect).map(|(_, id, _)| id.to_owned()).collect();
            hint_about_effects(&done, &stopped)
        }
    };
    let inputs = stop.inputs.as_ref().map(|inputs| {
        let target = stop.step.and_then(|step| plan.targets.get(step)?.as_ref());
        let nothing = Object::new();
        redactor.redact_inputs(target.map_or(&nothing, |target| &target.params), inputs)
    });
    RunReport {
        code: stop.code.clone(),
        message: redactor.redact_sentence(&stop.message),
        workflow: workflow.name.clone(),
        step: stop.step.map(|step| workflow.steps[step].id.clone()),
        hint: redactor.redact_sentence(&hint(&stop, effects)),
        cause: stop.cause.as_ref().map(|cause| render_cause(cause, &redactor)),
        inputs,
        failed,
        skipped: ids_in_phase(|phase| matches!(phase, StepPhase::Ended(StepEnd::Skipped))),
        not_run: ids_in_phase(|phase| matches!(phase, StepPhase::Waiting)),
        completed,
        stopped,
        undo,
    }
}

/// Reports what a saga has undone.
fn build_undo_report(plan: &RunPlan, state: &RunState, redactor: &SecretRedactor) -> UndoReport {
    let label = |step: usize, item: Option<usize>| {
        let id = plan.workflow.steps.get(step).map(|step| step.id.clone()).unwrap_or_default();
        item.map_or_else(|| id.clone(), |item| format!("{id}#{item}"))
    };
    let mut report = UndoReport::default();
    // They are undone in reverse.
    for done in state.saga.done.iter().rev() {
        let step = label(done.step, done.item);
        match &done.undo {
            UndoStatus::Undone => report.compensated.push(step),
            UndoStatus::Failed { code, message } => report.compensation_failed.push(FailedUndo {
                step,
                code: redactor.redact_sentence(code),
                error: redactor.redact_sentence(message),
            }),
            UndoStatus::Irreversible => report.not_reversible.push(step),
            UndoStatus::Remains => report.remaining.push(step),
        }
    }
    report.unknown = state.saga.unknown.iter().map(|(step, item)| label(*step, *item)).collect();
    report.undone = report.compensation_failed.is_empty()
        && report.not_reversible.is_empty()
        && report.remaining.is_empty()
        && report.unknown.is_empty();
    report
}

/// Says what remains of a saga.
fn hint_about_saga(undo: &UndoReport) -> Vec<String> {
    let mut sentences = Vec::new();
    if undo.undone {
        sentences.push(match undo.compensated.is_empty() {
            true => "Nothing was changed.".to_owned(),
            false => "All that was changed was undone.".to_owned(),
        });
    }
    let failed = |is_prepared: bool| -> Vec<String> {
        let failed =
            undo.compensation_failed.iter().filter(|failed| (failed.code != TEMPLATE) == is_prepared);
        failed.map(|failed| failed.step.clone()).collect()
    };
    let (failed, unprepared) = (failed(true), failed(false));
    if !failed.is_empty() {
        let failed = names(&failed);
        sentences.push(format!(
            "Undoing {failed} failed; the operator can try that again with `loggia runs retry`."
        ));
    }
    if !unprepared.is_empty() {
        sentences
            .push(format!("The effects of {} remain, since the file cannot undo them.", names(&unprepared)));
    }
    if !undo.not_reversible.is_empty() {
        let made = names(&undo.not_reversible);
        sentences.push(format!("{made} cannot be undone, so all effects remain; do not call the workflow again before you checked them."));
    } else if !undo.remaining.is_empty() {
        sentences.push(format!("The effects of {} remain.", names(&undo.remaining)));
    }
    if !undo.unknown.is_empty() {
        sentences.push(format!(
            "The effects of {} are unknown; check before calling again.",
            names(&undo.unknown)
        ));
    }
    sentences
}

/// Says what remains of another workflow.
fn hint_about_effects(done: &[String], stopped: &[String]) -> Vec<String> {
    let mut sentences = Vec::new();
    if !done.is_empty() {
        sentences.push(format!("The effects of {} remain; a new run repeats them.", names(done)));
    }
    if !stopped.is_empty() {
        sentences.push(format!("The effects of {} are unknown; check before calling again.", names(stopped)));
    }
    sentences
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
fn render_cause(cause: &Failure, redactor: &SecretRedactor) -> Value {
    let mut out = Object::new();
    out.insert("code".to_owned(), redactor.redact_sentence(&cause.code).into());
    out.insert("error".to_owned(), redactor.redact_sentence(&cause.message).into());
    if let Some(hint) = &cause.hint {
        out.insert("hint".to_owned(), redactor.redact_sentence(hint).into());
    }
    Value::Object(out)
}

/// Builds the hint: how to handle the cause, and which effects remain.
fn hint(stop: &RunStop, effects: Vec<String>) -> String {
    let mut sentences = Vec::new();
    match (stop.cause.as_ref().and_then(|cause| cause.hint.as_deref()), stop.step) {
        // Another sentence follows, so this one needs a full stop.
        (Some(hint), _) if hint.ends_with(['.', '!', '?']) => sentences.push(hint.to_owned()),
        (Some(hint), _) => sentences.push(format!("{hint}.")),
        // A declined question, as opposed to a cancelled workflow, which has no step.
        (None, Some(_)) if stop.code == code::CANCELLED => {
            sentences.push("The person declined; call again only if they ask for it.".to_owned());
        }
        (None, Some(_)) if stop.code == code::TIMED_OUT => {
            sentences.push("Call the workflow again, or give the step a longer `timeout`.".to_owned());
        }
        // Callers cannot fix a template.
        (None, Some(_)) if stop.cause.as_ref().is_some_and(|cause| cause.code == TEMPLATE) => {
            let parameters = "Call the workflow again with other parameters if they are the cause;";
            sentences.push(format!("{parameters} otherwise the workflow's file must be fixed."));
        }
        (None, Some(_)) => {
            sentences.push("Fix the cause of the step's failure, then call the workflow again.".to_owned())
        }
        (None, None) if stop.code == code::TIMED_OUT => {
            sentences.push("Call the workflow again, or give it a longer `timeout`.".to_owned());
        }
        (None, None) => sentences.push("Call the workflow again.".to_owned()),
    }
    sentences.extend(effects);
    sentences.join(" ")
}

/// Formats names: `` `a`, `b` and 3 more ``
fn names(steps: &[String]) -> String {
    const MAX_SHOWN: usize = 5;
    let mut listed: Vec<String> = steps.iter().take(MAX_SHOWN).map(|step| format!("`{step}`")).collect();
    if steps.len() > MAX_SHOWN {
        listed.push(format!("{} more", steps.len() - MAX_SHOWN));
    }
    match listed.pop() {
        Some(last) if listed.is_empty() => last,
        Some(last) => format!("{} and {last}", listed.join(", ")),
        None => String::new(),
    }
}
