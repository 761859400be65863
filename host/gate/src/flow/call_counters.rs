//! Counters of one facade.

use std::sync::{Arc, OnceLock};

use loggia_facade::Surface;

use super::meters::{CallOutcome, FacadeMeters, GateMeters, OutcomeCounters};

/// Counters of one version of a facade. The first call looks them up by name; later calls read them without a lock.
#[derive(Default)]
pub(crate) struct CallCounters(OnceLock<ResolvedCounters>);

pub(crate) struct ResolvedCounters {
    pub calls: Arc<FacadeMeters>,
    /// By action, in the order of the surface.
    actions: Box<[Arc<OutcomeCounters>]>,
}

impl CallCounters {
    pub(crate) fn resolve(&self, surface: &Surface, meters: &GateMeters) -> &ResolvedCounters {
        self.0.get_or_init(|| {
            let calls = meters.calls.get_or_insert(&surface.name);
            let names = surface.actions.iter().map(|action| action.name.as_str());
            let actions = calls.actions.get_or_insert_all(names).into();
            ResolvedCounters { calls, actions }
        })
    }
}

impl ResolvedCounters {
    /// Counts the end of a call of this action.
    pub(crate) fn record(&self, action: usize, outcome: CallOutcome) {
        if let Some(ends) = self.actions.get(action) {
            ends.increment(outcome);
        }
    }
}
