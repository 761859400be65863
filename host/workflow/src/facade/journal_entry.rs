//! Entries of a run's journal.
//!
//! The machine is deterministic: a run is its beginning and the events that it received since, each with its time. What
//! the machine requested follows from them, so it is not recorded: a request without an event was under way when the host
//! stopped.

use std::{borrow::Cow, time::Duration};

use serde::{Deserialize, Serialize};

use crate::engine::{RunEvent, RunPlan, RunStart};

/// Entry of a run's journal.
#[derive(Serialize, Deserialize)]
pub(super) enum JournalEntry<'a> {
    /// The run began. It keeps its definition, so that it goes on as it began even if the file has changed since.
    Began {
        /// Workflow and the actions that it calls.
        plan: Cow<'a, RunPlan>,
        /// Input.
        start: Cow<'a, RunStart>,
    },
    /// The machine received an event.
    Received {
        /// Time since the run began, without the time that no host ran it.
        now: Duration,
        /// Event.
        event: Cow<'a, RunEvent>,
    },
    /// A host took up a retried run: what it requests is made from now on.
    Resumed,
}

impl<'a> JournalEntry<'a> {
    /// Entry of a beginning.
    pub(super) fn began(plan: &'a RunPlan, start: &'a RunStart) -> Self {
        Self::Began { plan: Cow::Borrowed(plan), start: Cow::Borrowed(start) }
    }

    /// Entry of an event.
    pub(super) fn received(now: Duration, event: &'a RunEvent) -> Self {
        Self::Received { now, event: Cow::Borrowed(event) }
    }

    /// Writes the entry as JSON.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Only a map with keys that are not texts cannot be written; there is none.
        serde_json::to_vec(self).unwrap_or_default()
    }
}
