//! Shows the progress of a run: on a terminal as a live list, otherwise one line per event.

use std::{
    collections::HashMap,
    io::IsTerminal,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use loggia_text::printable;
use loggia_workflow::{
    Workflow,
    engine::{StepChange, StepNews},
};

use crate::cli::term;

/// Shows the progress of one run. The run's task calls `update`; the command suspends the list while it asks. `began`
/// is locked only to insert or remove a start time, never across other work.
pub struct StepProgress {
    workflow: Arc<Workflow>,
    list: Option<(MultiProgress, Vec<ProgressBar>)>,
    began: Mutex<HashMap<(usize, Option<usize>), Instant>>,
    asked: AtomicBool,
}

impl StepProgress {
    /// Creates the list of a workflow's steps.
    pub fn new(workflow: Arc<Workflow>) -> Self {
        let list = std::io::stderr().is_terminal().then(|| {
            let list = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
            let width = workflow.steps.iter().map(|step| step.id.chars().count()).max().unwrap_or(0);
            let bars = workflow.steps.iter().map(|step| {
                let bar = list.add(ProgressBar::new_spinner());
                bar.set_style(style("·"));
                bar.set_prefix(format!("{:width$}", step.id));
                bar.tick();
                bar
            });
            let bars = bars.collect();
            (list, bars)
        });
        Self { workflow, list, began: Mutex::default(), asked: AtomicBool::new(false) }
    }

    /// Shows an event.
    pub fn update(&self, news: &StepNews) {
        if matches!(news.change, StepChange::Asking) {
            self.asked.store(true, Ordering::Relaxed);
        }
        let took = self.elapsed(news);
        let text = event_text(&self.workflow, news, took);
        let Some((_, bars)) = &self.list else {
            return term::note(&printable(&self.line(news, &text)));
        };
        let Some(bar) = bars.get(news.step) else { return };
        bar.set_message(printable(&text).into_owned());
        if news.item.is_some() {
            return;
        }
        match news.change {
            StepChange::Started | StepChange::Asking | StepChange::Retrying(..) | StepChange::Undoing => {
                bar.set_style(spinning());
                bar.enable_steady_tick(Duration::from_millis(100));
            }
            StepChange::Completed => finish(bar, "\u{1b}[32m✓\u{1b}[0m"),
            StepChange::Failed(_) => finish(bar, "\u{1b}[31m✗\u{1b}[0m"),
            StepChange::Skipped | StepChange::Planned | StepChange::Stopped => finish(bar, "-"),
            StepChange::Undone => finish(bar, "\u{1b}[33m↺\u{1b}[0m"),
            StepChange::UndoFailed(_) => finish(bar, "\u{1b}[31m✗\u{1b}[0m"),
        }
    }

    /// Whether a step has asked a question.
    pub fn has_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Hides the list while a question is asked.
    pub fn suspend(&self) {
        if let Some((list, _)) = &self.list {
            list.set_draw_target(ProgressDrawTarget::hidden());
        }
    }

    /// Shows the list again.
    pub fn resume(&self) {
        if let Some((list, _)) = &self.list {
            list.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Prints a line above the list.
    pub fn note(&self, text: &str) {
        match &self.list {
            Some((list, _)) => drop(list.println(text)),
            None => term::note(text),
        }
    }

    /// Stops the list when the run has ended.
    pub fn close(&self) {
        for bar in self.list.iter().flat_map(|(_, bars)| bars).filter(|bar| !bar.is_finished()) {
            bar.set_style(style("·"));
            bar.abandon();
        }
        // The list leaves the cursor at the end of its last line.
        if self.list.is_some() {
            term::note("");
        }
    }

    fn line(&self, news: &StepNews, text: &str) -> String {
        let id = self.workflow.steps.get(news.step).map_or("", |step| &step.id);
        format!("{id}: {text}")
    }

    fn elapsed(&self, news: &StepNews) -> Option<Duration> {
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (news.step, news.item);
        match news.change {
            StepChange::Started | StepChange::Asking | StepChange::Undoing => {
                began.insert(key, Instant::now());
                None
            }
            StepChange::Retrying(..) => None,
            StepChange::Completed
            | StepChange::Failed(_)
            | StepChange::Skipped
            | StepChange::Planned
            | StepChange::Stopped
            | StepChange::Undone
            | StepChange::UndoFailed(_) => began.remove(&key).map(|began| began.elapsed()),
        }
    }
}

fn finish(bar: &ProgressBar, mark: &str) {
    bar.set_style(style(mark));
    bar.disable_steady_tick();
    bar.abandon();
}

/// Style of a step's line with a static mark. The fallback is for a broken template, which would be a defect here.
fn style(mark: &str) -> ProgressStyle {
    ProgressStyle::with_template(&format!("{mark} {{prefix}}  {{wide_msg}}"))
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn spinning() -> ProgressStyle {
    style("{spinner}")
}

/// Describes an event of a step.
fn event_text(workflow: &Workflow, news: &StepNews, took: Option<Duration>) -> String {
    let step = workflow.steps.get(news.step);
    let tool = step.and_then(|step| step.call()).map(|call| call.tool.as_str());
    let undo = step.and_then(|step| step.compensation()).map(|undo| undo.call.tool.as_str());
    let took = took.map(|took| format!(" ({} ms)", took.as_millis())).unwrap_or_default();
    let item = news.item.map(|item| format!("item {item}: ")).unwrap_or_default();
    let what = match &news.change {
        StepChange::Started => tool.map_or_else(|| "started".to_owned(), |tool| format!("calls {tool}")),
        StepChange::Asking => "waits for an answer".to_owned(),
        StepChange::Retrying(pause, why) => format!("failed, retrying in {pause:.0?}: {why}"),
        StepChange::Completed => format!("{}{took}", tool.unwrap_or("answered")),
        StepChange::Failed(why) => format!("failed{took}: {why}"),
        StepChange::Skipped => "skipped".to_owned(),
        StepChange::Planned => "planned".to_owned(),
        StepChange::Stopped => "stopped".to_owned(),
        StepChange::Undoing => {
            undo.map_or_else(|| "undoing".to_owned(), |undo| format!("undoing: calls {undo}"))
        }
        StepChange::Undone => format!("undone{took}"),
        StepChange::UndoFailed(why) => format!("could not be undone{took}: {why}"),
    };
    format!("{item}{what}")
}
