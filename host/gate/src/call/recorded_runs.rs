//! Runs of which only the journal knows: they ended before the last restart, or another host has them.

use std::{sync::Arc, time::Duration};

use loggia_facade::{Failure, Reply};
use loggia_schema::ToolView;
use serde_json::Value;
use tokio::time::Instant;

use super::{exec::SOFT_DEADLINE, gate_state::GateState};
use crate::{
    access::CallOrigin,
    catalog::CatalogEntry,
    failures,
    journal::{Journal, RunEnd, RunHead, StoredRun},
    run::{RunId, report},
};

/// Message about a run that has ended.
pub(super) const ENDED: &str = "the run had already ended";
/// Message about a run that ends a moment later.
pub(super) const CANCELLING: &str = "the run is being cancelled";
/// Runs that a list adds to those of this process.
const MAX_LISTED: usize = 20;
/// Runs among which those of a caller are looked for.
const MAX_SEARCHED: usize = 256;
/// Time between two looks at a run that another host has.
const LOOK_PERIOD: Duration = Duration::from_millis(500);

/// A query about a run, of a caller, to a facade.
pub(super) struct RecordedQuery {
    pub gate: Arc<GateState>,
    pub journal: Arc<dyn Journal>,
    pub origin: CallOrigin,
    pub entry: Arc<CatalogEntry>,
}

impl RecordedQuery {
    /// Renders a run. With `wait`, once it has ended, or after the soft deadline. `None` if the caller has no such run.
    pub(super) async fn render_status(&self, run: &str, include_trace: bool, wait: bool) -> Option<Reply> {
        let until = Instant::now() + SOFT_DEADLINE;
        loop {
            let (stored, head) = self.load(run).await?;
            let may_wait = wait && Instant::now() < until;
            let end = stored.end.and_then(|(_, end)| RunEnd::from_bytes(&end).ok());
            if end.is_some() || !may_wait {
                return Some(report::render_recorded(&stored.run.id, head.action(), end, include_trace));
            }
            tokio::time::sleep(LOOK_PERIOD).await;
            // This host may have taken it up meanwhile.
            let id = RunId::from_client(run);
            if let Some(own) = self.gate.runs.get(&id).filter(|own| own.is_visible_to(&self.origin)) {
                let _ = tokio::time::timeout_at(until, own.wait_until_ended()).await;
                return Some(report::render_run(&id, &own, include_trace));
            }
        }
    }

    /// Renders the caller's latest runs, without those of these handles.
    pub(super) async fn render_list(&self, known: &[String]) -> Vec<Value> {
        let facade = self.entry.surface().name.clone();
        let listed = self.journal.list(Some(facade), MAX_SEARCHED).await;
        let listed = listed.inspect_err(|error| tracing::error!("{error}")).unwrap_or_default();
        let others = listed.into_iter().filter(|stored| !known.contains(&stored.run.id));
        let own = others.filter_map(|stored| {
            let head = RunHead::from_bytes(&stored.run.head).ok()?;
            head.is_visible_to(&self.origin).then_some((stored, head))
        });
        let rendered = own.take(MAX_LISTED).map(|(stored, head)| {
            let end = stored.end.and_then(|(_, end)| RunEnd::from_bytes(&end).ok());
            report::render_recorded_summary(&stored.run.id, head.action(), end.as_ref()).into()
        });
        rendered.collect()
    }

    /// Asks the host of a run to cancel it. `None` if the caller has no such run.
    pub(super) async fn cancel(&self, run: &str, view: &ToolView) -> Option<Result<Reply, Failure>> {
        let (stored, head) = self.load(run).await?;
        if !self.entry.contract.can_cancel(head.action(), view) {
            return Some(Err(failures::cancel_elsewhere()));
        }
        let is_cancelled = match &stored.end {
            Some(_) => false,
            None => match self.journal.request_cancel(run.to_owned()).await {
                Ok(is_cancelled) => is_cancelled,
                Err(error) => return Some(Err(failures::unavailable(error.to_string()))),
            },
        };
        let message = if is_cancelled { CANCELLING } else { ENDED };
        let end = stored.end.and_then(|(_, end)| RunEnd::from_bytes(&end).ok());
        let reply = report::render_recorded(run, head.action(), end, false);
        Some(Ok(Reply { message: Some(message.to_owned()), ..reply }))
    }

    /// Loads a run of the caller and the facade.
    async fn load(&self, run: &str) -> Option<(StoredRun, RunHead)> {
        let loaded = self.journal.load(run.to_owned()).await;
        let stored = loaded.inspect_err(|error| tracing::error!("{error}")).ok()??;
        let head = RunHead::from_bytes(&stored.run.head).ok()?;
        let is_own = head.facade() == self.entry.surface().name && head.is_visible_to(&self.origin);
        is_own.then_some((stored, head))
    }
}
