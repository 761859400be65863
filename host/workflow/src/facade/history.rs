//! Pure: recorded runs, for operators.

use std::time::Duration;

use super::{journal_entry::JournalEntry, replay::ReplayedRun};
use crate::engine::{RunEvent, RunOutcome};

/// Status of one step of a recorded run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepSummary {
    /// Id of the step.
    pub step: String,
    /// `not run`, `running`, `retrying`, `waiting`, `completed`, `failed`, `skipped`, `stopped`, `undone` or `not undone`.
    pub status: &'static str,
}

/// Lists the steps of a recorded run, in file order.
///
/// # Errors
///
/// The reason for which its journal cannot be read.
pub fn summarize_steps(history: &[Vec<u8>]) -> Result<Vec<StepSummary>, String> {
    let Some(run) = ReplayedRun::from_history(history)? else { return Ok(Vec::new()) };
    let steps = run.plan.workflow.steps.iter().zip(run.state.step_statuses());
    Ok(steps.map(|(step, status)| StepSummary { step: step.id.clone(), status }).collect())
}

/// Extends the journal of a run that has ended so that it begins again: with a step, or with those that did not complete,
/// and with all that depend on these. A saga that was undone makes its calls again; one that could not undo everything tries that again.
///
/// # Errors
///
/// The reason for which it cannot.
pub fn retry_history(mut history: Vec<Vec<u8>>, from: Option<&str>) -> Result<Vec<Vec<u8>>, String> {
    let run = ReplayedRun::from_history(&history)?.ok_or("nothing was recorded of it")?;
    let steps = &run.plan.workflow.steps;
    let from = match from {
        None => None,
        Some(id) => Some(steps.iter().position(|step| step.id == id).ok_or_else(|| {
            let steps: Vec<&str> = steps.iter().map(|step| step.id.as_str()).collect();
            format!("it has no step `{id}`; its steps are {}", steps.join(", "))
        })?),
    };
    if run.plan.is_repeatable() {
        // Only its beginning was recorded, and nothing stands against making all of its steps again.
        return Ok(history);
    }
    if from.is_none() && matches!(run.outcome, Some(RunOutcome::Completed(_))) {
        return Err("all of its steps have completed: name the one to begin with by --from".to_owned());
    }
    if from.is_some() && run.state.has_failed_undo() {
        let message = "some of its steps could not be undone; without --from, that is tried again";
        return Err(message.to_owned());
    }
    let now: Duration = run.now;
    history.push(JournalEntry::received(now, &RunEvent::Retried(from)).to_bytes());
    Ok(history)
}
