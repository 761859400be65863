//! Counters of one facade.

use std::sync::{Arc, OnceLock};

use loggia_facade::Surface;

use super::meters::{FacadeMeters, Meters, Outcome, OutcomeCounters};

/// Counters of one version of a facade. The first call looks them up by name; later calls read them without a lock.
#[derive(Default)]
pub(crate) struct CallCounters(OnceLock<ResolvedCounters>);

pub(crate) struct ResolvedCounters {
    pub calls: Arc<FacadeMeters>,
    /// By action, in the order of the surface.
    actions: Box<[Arc<OutcomeCounters>]>,
}

impl CallCounters {
    pub(crate) fn resolve(&self, surface: &Surface, meters: &Meters) -> &ResolvedCounters {
        self.0.get_or_init(|| {
            let calls = meters.calls.of(&surface.name);
            let actions = surface.actions.iter().map(|action| calls.actions.of(&action.name)).collect();
            ResolvedCounters { calls, actions }
        })
    }
}

impl ResolvedCounters {
    /// Counts the end of a call of this action.
    pub(crate) fn record(&self, action: usize, outcome: Outcome) {
        if let Some(ends) = self.actions.get(action) {
            ends.up(outcome);
        }
    }
}
