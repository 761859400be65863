//! Where calls are counted.

use std::sync::{Arc, OnceLock};

use loggia_facade::Surface;

use super::meters::{FacadeMeters, Meters, Outcome, OutcomeCounters};

/// Where the calls of one version of a facade are counted: found by its first, so that no other looks for it.
#[derive(Default)]
pub(crate) struct CallCounters(OnceLock<ResolvedCounters>);

pub(crate) struct ResolvedCounters {
    pub calls: Arc<FacadeMeters>,
    /// In the order of the surface's actions.
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
    /// A call of this action ended so.
    pub(crate) fn record(&self, action: usize, outcome: Outcome) {
        if let Some(ends) = self.actions.get(action) {
            ends.up(outcome);
        }
    }
}
