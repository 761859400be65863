//! Pure: the state of a run from its journal.

use std::{collections::BTreeMap, time::Duration};

use super::journal_entry::JournalEntry;
use crate::engine::{self, RunEffect, RunOutcome, RunPlan, RunState, StepNews, TaskId};

/// A run as its journal leaves it.
pub(super) struct ReplayedRun {
    /// Plan with which it began.
    pub plan: RunPlan,
    /// State after the last event.
    pub state: RunState,
    /// Time of the last event, from which its clock goes on.
    pub now: Duration,
    /// Calls and questions that were requested and have not ended, in the order of their steps.
    pub open: Vec<RunEffect>,
    /// True if nobody has made the open calls: an operator lets the run begin again, and no host has taken it up.
    pub is_unmade: bool,
    /// News of its steps so far.
    pub news: Vec<StepNews>,
    /// Outcome, if the run had ended.
    pub outcome: Option<RunOutcome>,
}

impl ReplayedRun {
    /// Replays a journal. `None` for an empty one.
    ///
    /// # Errors
    ///
    /// If an entry cannot be read: it is damaged, or a newer host wrote it.
    pub(super) fn from_history(history: &[Vec<u8>]) -> Result<Option<Self>, String> {
        let mut entries = history.iter().map(|entry| serde_json::from_slice::<JournalEntry<'_>>(entry));
        let Some(first) = entries.next() else { return Ok(None) };
        let JournalEntry::Began { plan, start } = first.map_err(|error| error.to_string())? else {
            return Err("its journal has no beginning".to_owned());
        };
        let (plan, start) = (plan.into_owned(), start.into_owned());
        let (mut state, effects) = engine::begin(&plan, start);
        let mut effects_so_far = ReplayedEffects::default();
        effects_so_far.apply(effects);
        let (mut now, mut is_unmade) = (Duration::ZERO, false);
        for entry in entries {
            let (at, event) = match entry.map_err(|error| error.to_string())? {
                JournalEntry::Received { now, event } => (now, event.into_owned()),
                JournalEntry::Resumed => {
                    is_unmade = false;
                    continue;
                }
                JournalEntry::Began { .. } => return Err("its journal begins twice".to_owned()),
            };
            is_unmade = matches!(event, engine::RunEvent::Retried(_));
            effects_so_far.end(&event);
            now = at;
            effects_so_far.apply(engine::step(&plan, &mut state, now, event));
        }
        let ReplayedEffects { open, news, outcome } = effects_so_far;
        Ok(Some(Self { plan, state, now, open: open.into_values().collect(), is_unmade, news, outcome }))
    }
}

/// Effects of a replay, which were carried out before.
#[derive(Default)]
struct ReplayedEffects {
    open: BTreeMap<TaskId, RunEffect>,
    news: Vec<StepNews>,
    outcome: Option<RunOutcome>,
}

impl ReplayedEffects {
    fn apply(&mut self, effects: Vec<RunEffect>) {
        for effect in effects {
            match effect {
                RunEffect::Call { task, .. } | RunEffect::Ask { task, .. } => {
                    self.open.insert(task, effect);
                }
                RunEffect::Drop(task) => {
                    self.open.remove(&task);
                }
                RunEffect::Cancel(_) => {}
                RunEffect::Tell(news) => self.news.push(news),
                RunEffect::Done(outcome) => self.outcome = Some(*outcome),
            }
        }
    }

    /// Ends the task that an event reports.
    fn end(&mut self, event: &engine::RunEvent) {
        if let Some(task) = event.task() {
            self.open.remove(&task);
        }
        if matches!(event, engine::RunEvent::Retried(_)) {
            self.outcome = None;
        }
    }
}
