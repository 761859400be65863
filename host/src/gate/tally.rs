//! Where calls are counted.

use std::sync::{Arc, OnceLock};

use loggia_facade::Envelope;

use crate::{
    catalog::{Entry, Slot},
    telemetry::meters::{Calls, Ends, Meters, OTHER, Outcome},
};

/// Where the calls of one version of a facade are counted: found by its first, so that no other looks for it.
#[derive(Default)]
pub struct Tally(OnceLock<Counted>);

pub(super) struct Counted {
    pub calls: Arc<Calls>,
    /// In the order of the surface's actions.
    actions: Box<[Arc<Ends>]>,
}

impl Tally {
    pub(super) fn of(&self, entry: &Entry, meters: &Meters) -> &Counted {
        self.0.get_or_init(|| {
            let surface = entry.surface();
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

/// Counts a call that was answered without running. What its caller wrote becomes no name of anything: it may be all there
/// is.
pub(super) fn answered(meters: &Meters, under: Option<(&String, &Slot)>, envelope: &Envelope) {
    let outcome = Outcome::of(&envelope.outcome);
    let Some((facade, slot)) = under else {
        return meters.calls.of(OTHER).actions.of(OTHER).up(outcome);
    };
    let asked = envelope.command.name.as_deref();
    let action = match (slot, asked) {
        (_, Some(own)) if OWN.contains(&own) => own,
        (Slot::Serving(entry), Some(name)) => {
            let surface = entry.surface();
            surface.actions.iter().find(|action| action.name == name).map_or(OTHER, |action| &action.name)
        }
        _ => OTHER,
    };
    meters.calls.of(facade).actions.of(action).up(outcome);
}

/// The actions that every facade has, without running.
const OWN: [&str; 4] = ["describe", "run_status", "run_cancel", "batch"];
