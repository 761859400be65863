//! The steps of a run, as a person follows them: on a terminal a list that is kept up to date, else a line for each thing
//! that happens.

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

/// Follows the steps of one run.
pub struct Steps {
    workflow: Arc<Workflow>,
    list: Option<(MultiProgress, Vec<ProgressBar>)>,
    began: Mutex<HashMap<(usize, Option<usize>), Instant>>,
    asked: AtomicBool,
}

impl Steps {
    /// A list of a workflow's steps, none of which has begun.
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

    /// Shows what happened.
    pub fn tell(&self, news: &StepNews) {
        if matches!(news.change, StepChange::Asking) {
            self.asked.store(true, Ordering::Relaxed);
        }
        let took = self.took(news);
        let said = said(&self.workflow, news, took);
        let Some((_, bars)) = &self.list else {
            return term::note(&printable(&self.line(news, &said)));
        };
        let Some(bar) = bars.get(news.step) else { return };
        bar.set_message(printable(&said).into_owned());
        if news.item.is_some() {
            return;
        }
        match news.change {
            StepChange::Started | StepChange::Asking | StepChange::Retrying(..) => {
                bar.set_style(spinning());
                bar.enable_steady_tick(Duration::from_millis(100));
            }
            StepChange::Completed => finish(bar, "\u{1b}[32m✓\u{1b}[0m"),
            StepChange::Failed(_) => finish(bar, "\u{1b}[31m✗\u{1b}[0m"),
            StepChange::Skipped => finish(bar, "-"),
        }
    }

    /// Whether a question has come up.
    pub fn have_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Makes room for a question.
    pub fn hide(&self) {
        if let Some((list, _)) = &self.list {
            list.set_draw_target(ProgressDrawTarget::hidden());
        }
    }

    /// Takes the list up again.
    pub fn show(&self) {
        if let Some((list, _)) = &self.list {
            list.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Says something beside the list, which goes on below it.
    pub fn note(&self, text: &str) {
        match &self.list {
            Some((list, _)) => drop(list.println(text)),
            None => term::note(text),
        }
    }

    /// The run has ended: nothing moves any more.
    pub fn end(&self) {
        for bar in self.list.iter().flat_map(|(_, bars)| bars).filter(|bar| !bar.is_finished()) {
            bar.set_style(style("·"));
            bar.abandon();
        }
        // The list ends at the end of a line, where the result must not go on.
        if self.list.is_some() {
            term::note("");
        }
    }

    fn line(&self, news: &StepNews, said: &str) -> String {
        let id = self.workflow.steps.get(news.step).map_or("", |step| &step.id);
        format!("{id}: {said}")
    }

    fn took(&self, news: &StepNews) -> Option<Duration> {
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (news.step, news.item);
        match news.change {
            StepChange::Started | StepChange::Asking => {
                began.insert(key, Instant::now());
                None
            }
            StepChange::Retrying(..) => None,
            StepChange::Completed | StepChange::Failed(_) | StepChange::Skipped => {
                began.remove(&key).map(|began| began.elapsed())
            }
        }
    }
}

fn finish(bar: &ProgressBar, mark: &str) {
    bar.set_style(style(mark));
    bar.disable_steady_tick();
    bar.abandon();
}

/// A step's line with a mark that stands still. A template that cannot be read would be a defect of this file's.
fn style(mark: &str) -> ProgressStyle {
    ProgressStyle::with_template(&format!("{mark} {{prefix}}  {{wide_msg}}"))
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn spinning() -> ProgressStyle {
    style("{spinner}")
}

/// What happened to a step, in words.
fn said(workflow: &Workflow, news: &StepNews, took: Option<Duration>) -> String {
    let call = workflow.steps.get(news.step).and_then(|step| step.call());
    let tool = call.map(|call| call.tool.as_str());
    let took = took.map(|took| format!(" ({} ms)", took.as_millis())).unwrap_or_default();
    let item = news.item.map(|item| format!("item {item}: ")).unwrap_or_default();
    let what = match &news.change {
        StepChange::Started => tool.map_or_else(|| "began".to_owned(), |tool| format!("calls {tool}")),
        StepChange::Asking => "waits for an answer".to_owned(),
        StepChange::Retrying(pause, why) => format!("failed, is tried again in {pause:.0?}: {why}"),
        StepChange::Completed => format!("{}{took}", tool.unwrap_or("answered")),
        StepChange::Failed(why) => format!("failed{took}: {why}"),
        StepChange::Skipped => "skipped".to_owned(),
    };
    format!("{item}{what}")
}
