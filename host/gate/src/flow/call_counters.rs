//! Where calls are counted.

use std::sync::{Arc, OnceLock};

use loggia_facade::Surface;

use super::meters::{Calls, Ends, Meters, Outcome};

/// Where the calls of one version of a facade are counted: found by its first, so that no other looks for it.
#[derive(Default)]
pub struct Tally(OnceLock<Counted>);

pub(crate) struct Counted {
    pub calls: Arc<Calls>,
    /// In the order of the surface's actions.
    actions: Box<[Arc<Ends>]>,
}

impl Tally {
    pub(crate) fn of(&self, surface: &Surface, meters: &Meters) -> &Counted {
        self.0.get_or_init(|| {
            let calls = meters.calls.of(&surface.name);
            let actions = surface.actions.iter().map(|action| calls.actions.of(&action.name)).collect();
            Counted { calls, actions }
        })
    }
}

impl Counted {
    /// A call of this action ended so.
    pub fn ended(&self, action: usize, outcome: Outcome) {
        if let Some(ends) = self.actions.get(action) {
            ends.up(outcome);
        }
    }
}
