//! Runs of all callers, for operators: listed, shown and cancelled.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use loggia_facade::Object;
use serde_json::Value;

use super::gate::Gate;
use crate::{
    access::OriginRecord,
    journal::{JournalError, RunSummary, StoredRun, own_entries},
    run::{CallState, RunId, RunStatus},
};

/// A run in the list of operators.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRun {
    /// Unguessable handle.
    pub id: String,
    /// Facade.
    pub facade: String,
    /// Action.
    pub action: String,
    /// Caller, as in the log.
    pub caller: String,
    /// Start time.
    pub began: SystemTime,
    /// `running`, `waiting`, `succeeded`, `cancelled`, or the code of the failure; `unfinished` if another host has it.
    pub state: String,
    /// True if it can be cancelled.
    pub is_unfinished: bool,
}

/// A run as operators see it.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownRun {
    /// What the list has.
    pub run: ListedRun,
    /// End time, if it is recorded.
    pub ended: Option<SystemTime>,
    /// Parameters, redacted.
    pub inputs: Object,
    /// Its latest progress reports and log lines.
    pub trace: Value,
    /// What a workflow has recorded of its steps, which only its engine reads.
    pub entries: Vec<Vec<u8>>,
    /// Texts of the questions for which it waits.
    pub waits_for: Vec<String>,
    /// Envelope of its result, if it has ended.
    pub result: Option<Value>,
}

impl ListedRun {
    fn from_stored(stored: &StoredRun, live: Option<&CallState>) -> Self {
        let summary = RunSummary::from_stored(stored).ok();
        let outcome = summary.as_ref().map_or("unreadable", |summary| summary.outcome.as_str());
        let is_unfinished = stored.end.is_none();
        let state = match live {
            Some(call) if is_unfinished => call.status().as_str().to_owned(),
            _ => outcome.to_owned(),
        };
        Self {
            id: stored.run.id.clone(),
            facade: stored.run.facade.clone(),
            action: stored.run.action.clone(),
            caller: summary.map_or_else(|| "?".to_owned(), |summary| summary.caller),
            began: to_time(stored.run.began_ms),
            state,
            is_unfinished,
        }
    }

    fn from_live(id: &RunId, call: &CallState) -> Self {
        let state = match call.status() {
            RunStatus::Failed => {
                let outcome = call.outcome();
                outcome
                    .and_then(|envelope| envelope.outcome.err())
                    .map_or_else(String::new, |failure| failure.code)
            }
            status => status.as_str().to_owned(),
        };
        Self {
            id: id.to_string(),
            facade: call.facade.clone(),
            action: call.command.name.clone().unwrap_or_default(),
            caller: OriginRecord::of_caller(&call.caller, &call.rights).caller_name(),
            began: call.began,
            state,
            is_unfinished: call.ended_at().is_none(),
        }
    }
}

fn to_time(milliseconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(milliseconds)
}

impl Gate {
    /// Lists runs of all callers, newest first, after so many; and whether there are more.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub async fn list_runs(&self, skip: usize, most: usize) -> Result<(Vec<ListedRun>, bool), JournalError> {
        let most_needed = skip.saturating_add(most).saturating_add(1);
        let stored = match &self.state().journal {
            Some(journal) => journal.list(None, most_needed).await?,
            None => Vec::new(),
        };
        let recorded = stored.iter().map(|stored| {
            // Each look at the registry evicts, so ended runs are not looked up.
            let live = stored.end.is_none().then(|| self.find_call(&stored.run.id)).flatten();
            ListedRun::from_stored(stored, live.as_deref())
        });
        // Only this process knows of short calls that wait for a person.
        let runs = self.state().runs.unrecorded_runs();
        let mut all: Vec<_> =
            recorded.chain(runs.iter().map(|(id, call)| ListedRun::from_live(id, call))).collect();
        all.sort_by_key(|run| std::cmp::Reverse(run.began));
        let has_more = all.len() > skip.saturating_add(most);
        all.truncate(skip.saturating_add(most));
        Ok((all.split_off(skip.min(all.len())), has_more))
    }

    /// Loads a run of any caller.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub async fn load_run(&self, id: &str) -> Result<Option<ShownRun>, JournalError> {
        let live = self.find_call(id);
        let stored = match &self.state().journal {
            Some(journal) => journal.load(id.to_owned()).await?,
            None => None,
        };
        let waits_for = live.as_ref().map(|call| call.question_texts()).unwrap_or_default();
        let Some(stored) = stored else {
            return Ok(live.map(|call| ShownRun {
                run: ListedRun::from_live(&RunId::from_client(id), &call),
                ended: None,
                inputs: call.inputs().clone(),
                trace: call.render_trace(),
                entries: Vec::new(),
                waits_for,
                result: call.outcome().map(|envelope| envelope.into_parts().0.into()),
            }));
        };
        let history = match &self.state().journal {
            Some(journal) => own_entries(journal.history(id.to_owned()).await?),
            None => Vec::new(),
        };
        let run = ListedRun::from_stored(&stored, live.as_deref());
        let ended = stored.end.as_ref().map(|(at, _)| to_time(*at));
        let Ok(summary) = RunSummary::from_stored(&stored) else {
            let (inputs, trace, entries) = (Object::new(), Value::Null, Vec::new());
            return Ok(Some(ShownRun { run, ended, inputs, trace, entries, waits_for, result: None }));
        };
        // The entries of a run that ends with its server are lines of its trace.
        let (entries, lines) = match summary.resumes {
            true => (history, None),
            false => (
                Vec::new(),
                Some(history.iter().filter_map(|line| serde_json::from_slice::<Value>(line).ok()).collect()),
            ),
        };
        let trace = live.map(|call| call.render_trace()).or(summary.trace).or(lines).unwrap_or_default();
        let RunSummary { inputs, result, .. } = summary;
        Ok(Some(ShownRun { run, ended, inputs, trace, entries, waits_for, result }))
    }

    /// Cancels a run of any caller, also at another host that shares the journal. Returns false if it is not unfinished.
    ///
    /// # Errors
    ///
    /// If the journal cannot be used.
    pub async fn cancel_run(&self, id: &str) -> Result<bool, JournalError> {
        if let Some(call) = self.find_call(id) {
            if call.ended_at().is_some() {
                return Ok(false);
            }
            call.cancel.cancel();
            return Ok(true);
        }
        match &self.state().journal {
            Some(journal) => journal.request_cancel(id.to_owned()).await,
            None => Ok(false),
        }
    }

    fn find_call(&self, id: &str) -> Option<std::sync::Arc<CallState>> {
        let runs = &self.state().runs;
        runs.get(&RunId::from_client(id)).or_else(|| runs.recorded_call(id))
    }
}
