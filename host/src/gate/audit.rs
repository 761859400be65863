//! One line for each call that ran, and for each call that it made: what was called, by whom, from where, and what came of it.
//! Neither parameters nor results are told. Seen with `LOGGIA_LOG=info,loggia::audit=debug`. Calls are counted here too,
//! whether anybody reads of them or not.

use std::sync::Arc;

use loggia_facade::{CallId, Envelope, code};
use tokio::time::Instant;

use super::{Caller, printable, run::Run};
use crate::{
    catalog::Entry,
    telemetry::meters::{Inside, Meters, Outcome},
};

/// The source of the lines.
pub const TARGET: &str = "loggia::audit";

/// A call that runs. Its line is told when it ends, also where it is dropped: what it did stays done.
pub struct Audit {
    id: CallId,
    above: Option<CallId>,
    run: Arc<Run>,
    entry: Arc<Entry>,
    action: usize,
    meters: Arc<Meters>,
    began: Instant,
    told: bool,
    _running: Inside,
}

impl Audit {
    /// A call of an entry's action begins, made by the one above it.
    pub fn begin(
        (id, above): (&CallId, Option<&CallId>),
        run: &Arc<Run>,
        (entry, action): (&Arc<Entry>, usize),
        meters: &Arc<Meters>,
    ) -> Self {
        Self {
            id: id.clone(),
            above: above.cloned(),
            run: Arc::clone(run),
            entry: Arc::clone(entry),
            action,
            meters: Arc::clone(meters),
            began: Instant::now(),
            told: false,
            _running: entry.tally.of(entry, meters).calls.running.enter(),
        }
    }

    /// It ends with this.
    pub fn end(mut self, envelope: &Envelope) {
        self.tell(envelope.outcome.as_ref().err().map(|failure| failure.code.as_str()));
    }

    fn tell(&mut self, failed: Option<&str>) {
        self.told = true;
        let Self { id, run, entry, .. } = &*self;
        let took = self.began.elapsed();
        let counted = entry.tally.of(entry, &self.meters);
        counted.calls.times.add(took);
        counted.ended(self.action, failed.map_or(Outcome::Ok, Outcome::of_code));
        if !tracing::enabled!(target: TARGET, tracing::Level::DEBUG) {
            return;
        }
        // What a facade calls its failure is its own text.
        let outcome = format!("{:.40}", printable(failed.unwrap_or("ok")));
        let surface = entry.surface();
        let facade = surface.name.as_str();
        let action = surface.actions.get(self.action).map_or("", |action| action.name.as_str());
        let ms = (took.as_secs_f64() * 1e6).round() / 1e3;
        let caller = match &run.caller {
            Caller::Local => "(local)",
            Caller::Anonymous => "(anonymous)",
            Caller::Named(name) => name,
        };
        let caller = printable(caller);
        let (request, trace) = (run.mark.request(), run.mark.trace());
        let from = self.above.as_ref().map(|above| above.0.as_str());
        tracing::debug!(
            target: TARGET,
            id = id.0, from, request, trace, caller = &*caller, facade, action, outcome, ms,
            "{facade}.{action}: {outcome}"
        );
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        if !self.told {
            self.tell(Some(code::CANCELLED));
        }
    }
}
