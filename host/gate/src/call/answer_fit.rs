//! Cuts results for clients that read only so much.

use std::sync::Arc;

use loggia_facade::Envelope;

use super::gate_state::GateState;
use crate::{
    access::CallOrigin,
    catalog::{CatalogSlot, CatalogSnapshot},
    results::{KeptResults, ResultOwner, TokenBudget},
    schedule::run_cpu_bound,
};

/// Tokens of an answer to a client of which nothing is known, about a part of a result.
pub(super) const DEFAULT_ANSWER: TokenBudget = TokenBudget(25_000);

/// Cuts the result of one call.
pub(super) struct AnswerFit {
    kept: Arc<KeptResults>,
    owner: ResultOwner,
    budget: TokenBudget,
}

impl AnswerFit {
    /// Decides whether results of a facade are cut for a client.
    pub(super) fn of_call(
        gate: &GateState,
        snapshot: &CatalogSnapshot,
        origin: &CallOrigin,
        facade: &str,
    ) -> Option<Self> {
        let budget = Self::budget(snapshot, origin, facade)?;
        let owner = ResultOwner { caller: origin.caller.clone(), facade: facade.to_owned() };
        Some(Self { kept: Arc::clone(&gate.kept), owner, budget })
    }

    /// Returns how long a result of a facade may be. The facade's policy goes before what suits the client. `None`: of any length.
    pub(super) fn budget(
        snapshot: &CatalogSnapshot,
        origin: &CallOrigin,
        facade: &str,
    ) -> Option<TokenBudget> {
        let of_policy = match snapshot.slots.get(facade) {
            Some(CatalogSlot::Serving(entry)) => Some(entry.rules.answer),
            _ => None,
        };
        of_policy.into_iter().chain(origin.answer).find(|tokens| *tokens > 0).map(TokenBudget)
    }

    /// Cuts the result if it is too long.
    pub(super) fn apply(&self, envelope: Envelope) -> Envelope {
        if self.kept.surely_fits(&envelope, self.budget) {
            return envelope;
        }
        run_cpu_bound(true, || self.kept.fit(self.owner.clone(), self.budget, envelope))
    }
}
