//! Calls that are recorded, so that they survive the host.

use std::{sync::Arc, time::Duration};

use loggia_facade::{Effect, Envelope};

use super::gate_state::GateState;
use crate::{
    access::CallOrigin,
    journal::{JournalError, RunHead, RunRecorder},
    plan::PlannedCall,
    run::{CallState, RunId},
};

/// Creates the recorder of a call, if its facade is durable and the host has a journal.
pub(super) fn recorder_for(
    gate: &GateState,
    origin: &CallOrigin,
    planned: &PlannedCall,
) -> Option<Arc<RunRecorder>> {
    let journal = gate.journal.as_ref().filter(|_| planned.entry.facade.is_durable())?;
    let (head, id) = (RunHead::capture(origin, planned), RunId::random().to_string());
    let run = {
        let id = id.clone();
        Box::new(move || head.to_run(id))
    };
    Some(Arc::new(RunRecorder::new(Arc::clone(journal), id, run, Arc::clone(&gate.draining))))
}

/// Describes a long-running call of a plugin that is made again if a restart interrupts it, since that has no further effect.
/// It gets an idempotency key, under which the plugin may keep how far it came.
pub(super) fn repetition_for(
    gate: &GateState,
    origin: &CallOrigin,
    planned: &mut PlannedCall,
) -> Option<Box<RunHead>> {
    let action = planned.action();
    let is_repeatable = action.long_running && (action.idempotent || action.effect == Effect::Read);
    if !is_repeatable || gate.journal.is_none() || planned.entry.facade.is_durable() {
        return None;
    }
    // Secrets are not recorded.
    if has_secrets(planned) {
        return None;
    }
    planned.idempotency_key.get_or_insert_with(|| RunId::random().to_string());
    Some(Box::new(RunHead::capture_repeated(origin, planned)))
}

/// Returns true if a parameter is redacted.
fn has_secrets(planned: &PlannedCall) -> bool {
    planned.params.iter().any(|(name, value)| planned.inputs.get(name) != Some(value))
}

/// Runs a call and records its outcome before anyone sees it.
pub(super) async fn record_outcome(
    state: Arc<CallState>,
    recorder: Arc<RunRecorder>,
    call: impl Future<Output = Envelope>,
) -> Envelope {
    let envelope = call.await;
    match recorder.finish(&envelope, state.render_trace()).await {
        Ok(()) => {}
        // The journal could not be written before, either, or another host has the run.
        Err(JournalError::Lost) => tracing::debug!(run = recorder.run(), "a run ended unrecorded"),
        // What the call did is done, and its caller has to learn of it. Unrecorded, the run would go on after a restart.
        Err(error @ JournalError::Storage(_)) => {
            tracing::error!(run = recorder.run(), "failed to record the outcome of a run: {error}");
            let (envelope, trace) = (envelope.clone(), state.render_trace());
            tokio::spawn(async move {
                while let Err(JournalError::Storage(_)) =
                    recorder.finish_again(&envelope, trace.clone()).await
                {
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
            });
        }
    }
    envelope
}

/// Pause before an outcome that could not be recorded is tried again: the disk may have been full.
const RETRY_PAUSE: Duration = Duration::from_secs(5);
