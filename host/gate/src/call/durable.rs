//! Calls that are recorded, so that they survive the host.

use std::sync::Arc;

use loggia_facade::Envelope;

use super::gate_state::GateState;
use crate::{
    access::CallOrigin,
    journal::{NewRun, RunHead, RunRecorder},
    plan::PlannedCall,
    run::RunId,
};

/// Creates the recorder of a call, if its facade is durable and the host has a journal.
pub(super) fn recorder_for(
    gate: &GateState,
    origin: &CallOrigin,
    planned: &PlannedCall,
) -> Option<Arc<RunRecorder>> {
    let journal = gate.journal.as_ref().filter(|_| planned.entry.facade.is_durable())?;
    let head = RunHead::capture(origin, planned);
    let run = NewRun {
        id: RunId::random().to_string(),
        facade: head.facade().to_owned(),
        action: head.action().to_owned(),
        head: head.to_bytes(),
        began_ms: head.began_ms(),
    };
    Some(Arc::new(RunRecorder::new(Arc::clone(journal), run, Arc::clone(&gate.draining))))
}

/// Runs a call and records its outcome before anyone sees it.
pub(super) async fn record_outcome(
    recorder: Arc<RunRecorder>,
    call: impl Future<Output = Envelope>,
) -> Envelope {
    let envelope = call.await;
    if let Err(error) = recorder.finish(&envelope).await {
        // What the call did is done, and its caller has to learn of it.
        tracing::error!(run = recorder.run(), "failed to record the outcome of a run: {error}");
    }
    envelope
}
