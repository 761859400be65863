//! Recorded runs go on after a restart.

use std::{sync::Arc, time::Duration};

use loggia_facade::{Envelope, Failure, Stop};
use serde_json::Value;

use super::{chain, durable, gate_state::GateState};
use crate::{
    catalog::{CatalogEntry, CatalogSlot},
    failures,
    journal::{ClaimedRun, JournalError, RunHead, RunRecorder},
    run::CallState,
};

/// Runs that are claimed at once.
const BATCH: usize = 64;
/// Number of times that the run of a plugin is claimed and made again. It might be what ends the hosts.
const MAX_CLAIMS: u64 = 4;
/// Pause before a run that could not begin is tried again: the host is busy, or its facade is resting.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Claims the runs that ended hosts have left, of facades that are served. Lets those of durable facades go on, and ends the
/// others. Returns their number.
pub(super) async fn resume_runs(gate: &Arc<GateState>) -> Result<usize, JournalError> {
    let Some(journal) = gate.journal.clone() else { return Ok(0) };
    let served = || {
        let snapshot = gate.catalog.snapshot();
        let entries = snapshot.slots.iter().filter_map(|(name, slot)| match slot {
            CatalogSlot::Serving(_) => Some(name.clone()),
            CatalogSlot::Unavailable(_) => None,
        });
        entries.collect::<Vec<String>>()
    };
    let mut resumed = 0;
    loop {
        let facades = served();
        if facades.is_empty() {
            return Ok(resumed);
        }
        let claimed = journal.claim(facades, BATCH).await?;
        let is_last = claimed.len() < BATCH;
        resumed += claimed.len();
        claimed.into_iter().for_each(|run| resume_run(gate, run));
        if is_last {
            return Ok(resumed);
        }
    }
}

/// Cancels the runs for which that was requested.
pub(super) async fn cancel_requested(gate: &Arc<GateState>) -> Result<(), JournalError> {
    let Some(journal) = &gate.journal else { return Ok(()) };
    for run in journal.cancel_requests().await? {
        if let Some(call) = gate.runs.recorded_call(&run) {
            call.cancel.cancel();
        }
    }
    Ok(())
}

/// Lets one run go on.
fn resume_run(gate: &Arc<GateState>, claimed: ClaimedRun) {
    let Some(journal) = gate.journal.clone() else { return };
    let ClaimedRun { lease, head, entries } = claimed;
    let id = lease.run.clone();
    let head = match RunHead::from_bytes(&head) {
        Ok(head) => head,
        Err(error) => {
            tracing::error!(run = id, "failed to resume a run: its record cannot be read: {error}");
            return;
        }
    };
    let Some(CatalogSlot::Serving(entry)) = gate.catalog.slot(head.facade()) else {
        // Removed since the claim: it is claimed again once it is served.
        drop(journal.release(lease));
        return;
    };
    let repeats = head.repeats() && lease.fence <= MAX_CLAIMS;
    if !head.resumes() && !repeats {
        let trace = entries.iter().filter_map(|line| serde_json::from_slice::<Value>(line).ok()).collect();
        let recorder = RunRecorder::claimed(journal, lease, entries, Arc::clone(&gate.draining));
        tracing::info!(run = id, facade = head.facade(), action = head.action(), "a run was interrupted");
        drop(recorder.finish(&Envelope::new(head.command(), Err(interrupted())), trace));
        return;
    }
    // Its call had begun, so it needs no further consent.
    let confirmed = !repeats && !entries.is_empty();
    let recorder = RunRecorder::claimed(journal, lease, entries, Arc::clone(&gate.draining));
    let recorder = Arc::new(if repeats { recorder.into_repeated() } else { recorder });
    let state = match head.plan(&entry, confirmed) {
        Some(planned) => CallState::for_call(head.origin(), &planned),
        None => {
            let envelope = no_longer_served(&head, &entry);
            tracing::warn!(run = id, "a run ends: {}", envelope.message);
            drop(recorder.finish(&Envelope::new(head.command(), Err(envelope)), Value::Array(Vec::new())));
            return;
        }
    };
    let (facade, action) = (head.facade(), head.action());
    match (confirmed, repeats) {
        (true, _) => tracing::info!(run = id, facade, action, "resuming a run"),
        (false, true) => tracing::info!(run = id, facade, action, "making an interrupted call again"),
        (false, false) => tracing::info!(run = id, facade, action, "beginning a recorded run"),
    }
    let state = Arc::new(state.resumed(head.began()).with_recorder(Some(Arc::clone(&recorder))));
    gate.runs.note_recorded(&state);
    gate.runs.register(Arc::clone(&state), true);
    let call = run_again(Arc::clone(gate), Arc::clone(&state), recorder, head, confirmed);
    gate.executor.spawn(gate.executor.prepare(state, entry, Box::pin(call)));
}

/// Makes the call of a run again, until it could begin.
async fn run_again(
    gate: Arc<GateState>,
    state: Arc<CallState>,
    recorder: Arc<RunRecorder>,
    head: RunHead,
    confirmed: bool,
) -> Envelope {
    loop {
        if let Some(CatalogSlot::Serving(entry)) = gate.catalog.slot(head.facade()) {
            let Some(planned) = head.plan(&entry, confirmed) else {
                let failure = no_longer_served(&head, &entry);
                let envelope = futures_util::future::ready(Envelope::new(head.command(), Err(failure)));
                return durable::record_outcome(state, recorder, envelope).await;
            };
            let envelope = chain::run_chain(Arc::clone(&gate), Arc::clone(&state), planned).await;
            if recorder.has_begun() {
                return durable::record_outcome(state, recorder, futures_util::future::ready(envelope)).await;
            }
        }
        tokio::select! {
            biased;
            () = state.cancel.cancelled() => {
                let envelope = Envelope::new(head.command(), Err(Failure::from(Stop::Cancelled)));
                return durable::record_outcome(state, recorder, futures_util::future::ready(envelope)).await;
            }
            () = tokio::time::sleep(RETRY_PAUSE) => {}
        }
    }
}

/// Failure of a run that cannot go on after a restart.
fn interrupted() -> Failure {
    Failure::new("interrupted", "the host stopped during the run")
        .hint("what it did before remains; check it before calling again")
}

fn no_longer_served(head: &RunHead, entry: &CatalogEntry) -> Failure {
    let (facade, action) = (&entry.surface().name, head.action());
    failures::unavailable(format_args!("`{facade}` no longer has the action `{action}`"))
        .hint("what the run did before the host stopped remains; check it before calling again")
}
