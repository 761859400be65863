//! Calls that start by themselves: they are recorded, and begin like runs that a restart has left.

use std::sync::Arc;

use loggia_facade::{Failure, Request};
use loggia_schema::ToolView;

use super::{exec::Exec, gate_state::GateState, resumption};
use crate::{
    access::CallOrigin,
    failures,
    journal::{Journal, JournalError, RunHead},
    plan::{CallPlan, PlannedCall, plan_request},
    run::RunId,
};

/// Runs among which an unfinished one is looked for.
const MAX_LISTED: usize = 256;

/// Start of a call without a client.
pub struct CallStart {
    /// Identity in whose name it runs.
    pub origin: CallOrigin,
    /// The call.
    pub request: Request,
    /// Handle of its run. A start with the handle of another one does nothing: several hosts may start the same call.
    pub id: RunId,
    /// Whether it may run while an earlier one of the same identity and action has not ended.
    pub may_overlap: bool,
}

/// What became of a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartOutcome {
    /// It is recorded, now or before, and runs here or on another host.
    Started,
    /// An earlier one has not ended.
    Overlaps,
}

/// Starts a call, unless its rights or parameters do not allow it.
pub(super) async fn start_call(gate: &Arc<GateState>, start: CallStart) -> Result<StartOutcome, Failure> {
    if let Some(failure) = gate.unaudited_failure() {
        return Err(failure);
    }
    let CallStart { origin, request, id, may_overlap } = start;
    let snapshot = gate.catalog.snapshot();
    let planned =
        match plan_request(&snapshot, request, &ToolView::all_actions(), (&origin.rights, origin.list)) {
            CallPlan::Run(planned) => *planned,
            CallPlan::Answer(envelope) | CallPlan::Description(_, envelope) => {
                return Err(envelope.outcome.err().unwrap_or_else(|| failures::denied("it is no call")));
            }
            CallPlan::AboutRun(_) | CallPlan::Batch(_) | CallPlan::KeptResult { .. } => {
                return Err(failures::denied("it is no call"));
            }
        };
    let Some(journal) = gate.journal.clone().filter(|_| planned.entry.facade.is_durable()) else {
        Exec::begin_call(gate, origin, planned).detach();
        return Ok(StartOutcome::Started);
    };
    let recorded = record_start(&*journal, &origin, &planned, id, may_overlap).await;
    let outcome = recorded.map_err(|error| failures::unavailable(error.to_string()))?;
    if outcome == StartOutcome::Started {
        // Otherwise the next look for unfinished runs takes it up.
        resumption::resume_runs(gate).await.map_err(|error| failures::unavailable(error.to_string()))?;
    }
    Ok(outcome)
}

async fn record_start(
    journal: &dyn Journal,
    origin: &CallOrigin,
    planned: &PlannedCall,
    id: RunId,
    may_overlap: bool,
) -> Result<StartOutcome, JournalError> {
    let head = RunHead::capture(origin, planned);
    let facade = planned.entry.surface().name.clone();
    if !may_overlap {
        let listed = journal.list(Some(facade), MAX_LISTED).await?;
        let own = id.to_string();
        let mut unfinished = listed.iter().filter(|stored| stored.end.is_none() && stored.run.id != own);
        let overlaps = unfinished
            .any(|stored| RunHead::from_bytes(&stored.run.head).is_ok_and(|other| head.is_same_call(&other)));
        if overlaps {
            return Ok(StartOutcome::Overlaps);
        }
    }
    journal.add(head.to_run(id.to_string()), Vec::new()).await?;
    Ok(StartOutcome::Started)
}
