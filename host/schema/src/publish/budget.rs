//! Picks a form for each facade, so that the whole list of tools fits a token budget.
//!
//! Tokens are counted elsewhere. Each facade starts at its richest form and only steps down, so a list that fits is
//! published as configured.

use crate::publish::expose::SchemaForm;

/// The forms that a facade may have, the richest first, each with its tokens. Never empty.
///
/// A facade whose policy specifies the form has only that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormLadder(pub Vec<(SchemaForm, usize)>);

/// The forms chosen for the whole list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetFit {
    /// The form of each facade, in their order.
    pub forms: Vec<SchemaForm>,
    /// The tokens of the whole list.
    pub tokens: usize,
    /// Whether the list fits the budget; otherwise every facade has its cheapest form.
    pub fits: bool,
}

impl SchemaForm {
    /// The forms that may replace this one to save tokens: this one first, none richer.
    pub fn fallbacks(self) -> Vec<Self> {
        let shorter = match self {
            Self::Names => &[][..],
            Self::Signatures => &[Self::Names][..],
            Self::Flat | Self::Union | Self::Raw | Self::Granular => &[Self::Signatures, Self::Names][..],
        };
        std::iter::once(self).chain(shorter.iter().copied()).collect()
    }
}

/// Picks the richest form of each facade such that the whole list fits the budget.
///
/// Until it fits, the facade that saves most steps down, the first of equals: a few facades lose much instead of all
/// losing something, and always the same ones. Then facades step up again where tokens are left. If nothing fits, each
/// has its cheapest form.
pub fn fit_budget(ladders: &[FormLadder], budget: usize) -> BudgetFit {
    let mut at = vec![0; ladders.len()];
    let mut tokens = total(ladders, &at);
    while tokens > budget {
        let Some((facade, step, saved)) = best_step(ladders, &at) else { break };
        at[facade] = step;
        tokens -= saved;
    }
    if tokens <= budget {
        step_up(ladders, &mut at, &mut tokens, budget);
    }
    let forms = ladders.iter().zip(&at).filter_map(|(ladder, at)| ladder.0.get(*at)).map(|(form, _)| *form);
    BudgetFit { forms: forms.collect(), tokens, fits: tokens <= budget }
}

fn total(ladders: &[FormLadder], at: &[usize]) -> usize {
    ladders.iter().zip(at).map(|(ladder, at)| ladder.cost(*at)).sum()
}

/// The step down that saves most: facade, step, tokens saved. Steps that save nothing are skipped.
fn best_step(ladders: &[FormLadder], at: &[usize]) -> Option<(usize, usize, usize)> {
    let steps = ladders.iter().zip(at).enumerate().filter_map(|(facade, (ladder, at))| {
        let now = ladder.cost(*at);
        let next = (at + 1..ladder.0.len()).find(|step| ladder.cost(*step) < now)?;
        Some((facade, next, now - ladder.cost(next)))
    });
    // `max_by_key` returns the last of equals, so the order is reversed.
    steps.rev().max_by_key(|(_, _, saved)| *saved)
}

/// Reverts steps that turned out to be needless, from the first facade on.
fn step_up(ladders: &[FormLadder], at: &mut [usize], tokens: &mut usize, budget: usize) {
    for (ladder, at) in ladders.iter().zip(at.iter_mut()) {
        let rest = *tokens - ladder.cost(*at);
        if let Some(richer) = (0..*at).find(|step| rest + ladder.cost(*step) <= budget) {
            *at = richer;
            *tokens = rest + ladder.cost(richer);
        }
    }
}

impl FormLadder {
    fn cost(&self, step: usize) -> usize {
        self.0.get(step).map_or(0, |(_, tokens)| *tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SchemaForm::{Flat, Names, Signatures, Union};

    /// Facades by their ladders from `flat` down, and the chosen forms.
    fn check(ladders: &[&[usize]], budget: usize, forms: &[SchemaForm], tokens: usize, fits: bool) {
        let ladder = |costs: &&[usize]| FormLadder(Flat.fallbacks().into_iter().zip(costs.iter().copied()).collect());
        let ladders: Vec<FormLadder> = ladders.iter().map(ladder).collect();
        let expected = BudgetFit { forms: forms.to_vec(), tokens, fits };
        assert_eq!(fit_budget(&ladders, budget), expected, "{ladders:?} in {budget}");
    }

    #[test]
    fn the_richest_fitting_forms_are_picked() {
        let (large, small): (&[usize], &[usize]) = (&[1000, 400, 200], &[300, 250, 150]);
        for (ladders, budget, forms, tokens, fits) in [
            (&[][..], 0, &[][..], 0, true),
            (&[large, small][..], 1300, &[Flat, Flat][..], 1300, true),
            // One token short: the one that saves most.
            (&[large, small], 1299, &[Signatures, Flat], 700, true),
            (&[small, large], 1299, &[Flat, Signatures], 700, true),
            (&[large, small], 699, &[Names, Flat], 500, true),
            (&[large, small], 450, &[Names, Signatures], 450, true),
            (&[large, small], 350, &[Names, Names], 350, true),
            (&[large, small], 349, &[Names, Names], 350, false),
            // The first of equals.
            (&[large, large], 1400, &[Signatures, Flat], 1400, true),
            // A needless step down is reverted after a larger one.
            (&[&[100, 90, 10], &[1000, 950, 0]], 150, &[Flat, Names], 100, true),
            // A poorer form that costs more is skipped; a fixed one is kept.
            (&[&[100, 120, 50], &[500]], 550, &[Names, Flat], 550, true),
            (&[&[500], &[700]], 600, &[Flat, Flat], 1200, false),
        ] {
            check(ladders, budget, forms, tokens, fits);
        }
    }

    #[test]
    fn no_form_steps_up() {
        assert_eq!(Flat.fallbacks(), [Flat, Signatures, Names]);
        assert_eq!(Union.fallbacks(), [Union, Signatures, Names]);
        assert_eq!(Signatures.fallbacks(), [Signatures, Names]);
        assert_eq!(Names.fallbacks(), [Names]);
    }

    #[test]
    fn picked_forms_fit_and_no_facade_could_be_richer() {
        let costs = |seed: usize| {
            let names = 50 + seed * 37 % 200;
            let signatures = names + seed * 91 % 400;
            vec![signatures + seed * 53 % 900, signatures, names]
        };
        for seed in 0..300 {
            let ladders: Vec<FormLadder> = (seed..seed + 6)
                .map(|seed| FormLadder(Flat.fallbacks().into_iter().zip(costs(seed)).collect()))
                .collect();
            let budget = 400 + seed * 17;
            let fitted = fit_budget(&ladders, budget);
            assert_eq!(fitted.fits, fitted.tokens <= budget);
            for (ladder, form) in ladders.iter().zip(&fitted.forms) {
                let at = ladder.0.iter().position(|(known, _)| known == form).unwrap();
                let rest = fitted.tokens - ladder.cost(at);
                assert!(!fitted.fits || (0..at).all(|step| rest + ladder.cost(step) > budget), "{ladders:?}");
                assert!(fitted.fits || ladder.0.iter().all(|(_, cost)| *cost >= ladder.cost(at)));
            }
        }
    }
}
