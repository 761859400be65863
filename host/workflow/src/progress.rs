//! Progress reports of a run.

use std::collections::BTreeSet;

use loggia_facade::{LogLevel, Progress, Session};

use loggia_text::sanitise_line;

use crate::{
    Workflow,
    engine::{StepChange, StepNews},
};

/// Maximum length of a step's name, in bytes.
const NAME: usize = 80;

/// Reporter that follows the steps of a run.
pub(crate) struct ProgressReporter<'a> {
    workflow: &'a Workflow,
    session: Session,
    running: BTreeSet<usize>,
    begun: BTreeSet<usize>,
}

impl<'a> ProgressReporter<'a> {
    pub(crate) fn new(workflow: &'a Workflow, session: Session) -> Self {
        Self { workflow, session, running: BTreeSet::new(), begun: BTreeSet::new() }
    }

    /// Reports one change: as progress that names the active steps, and in the run's log.
    pub(crate) fn report(&mut self, news: &StepNews) {
        let message = self.describe(news);
        let level = match news.change {
            StepChange::Failed(_) | StepChange::Retrying(..) | StepChange::UndoFailed(_) => LogLevel::Warn,
            _ => LogLevel::Debug,
        };
        self.session.log(level, &message);
        if news.item.is_none() {
            self.begun.insert(news.step);
            match news.change {
                StepChange::Completed
                | StepChange::Failed(_)
                | StepChange::Skipped
                | StepChange::Planned
                | StepChange::Stopped
                | StepChange::Undone
                | StepChange::UndoFailed(_) => self.running.remove(&news.step),
                StepChange::Started | StepChange::Asking | StepChange::Retrying(..) | StepChange::Undoing => {
                    self.running.insert(news.step)
                }
            };
        }
        let others: Vec<String> = self.running.iter().map(|step| self.step_label(*step)).collect();
        let message =
            if others.is_empty() { message } else { format!("{message}; running: {}", others.join(", ")) };
        // A step counts half when it starts and half when it ends, so that both advance the progress.
        let half = |count: usize| u32::try_from(count).map_or(0.0, |count| f64::from(count) / 2.0);
        let done = half(self.begun.len().max(news.ended)) + half(news.ended);
        let total = Some(half(self.workflow.steps.len()) * 2.0);
        self.session.progress(Progress { done, total, message: Some(message) });
    }

    /// Returns a step's name on one line.
    fn step_label(&self, step: usize) -> String {
        self.workflow.steps.get(step).map(|step| sanitise_line(&step.id, NAME)).unwrap_or_default()
    }

    fn describe(&self, news: &StepNews) -> String {
        let item = news.item.map(|item| format!(" (item {item})")).unwrap_or_default();
        let call = self.workflow.steps.get(news.step).and_then(|step| step.call());
        let tool = call.map(|call| format!(", {}", call.tool)).unwrap_or_default();
        let what = match &news.change {
            StepChange::Started => format!("began{tool}"),
            StepChange::Asking => "waits for an answer".to_owned(),
            StepChange::Retrying(pause, why) => {
                format!("failed and is tried again in {} ms: {why}", pause.as_millis())
            }
            StepChange::Completed => "is done".to_owned(),
            StepChange::Failed(why) => format!("failed: {why}"),
            StepChange::Skipped => "is skipped".to_owned(),
            StepChange::Planned => "is planned".to_owned(),
            StepChange::Stopped => "is stopped".to_owned(),
            StepChange::Undoing => "is being undone".to_owned(),
            StepChange::Undone => "is undone".to_owned(),
            StepChange::UndoFailed(why) => format!("could not be undone: {why}"),
        };
        format!("step {}{item} {what}", self.step_label(news.step))
    }
}
