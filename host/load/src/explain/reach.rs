//! Finds the facades that a facade can reach by calls.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use loggia_facade::{Action, Effect};
use loggia_policy::model::InvokeRule;

use super::model::{PolicySubject, ReachedAction, ReachedFacade, explain_rights};

/// One step of the search: a facade, and how it was reached.
struct SearchNode<'a> {
    subject: &'a PolicySubject<'a>,
    through: Vec<String>,
    /// Worst effect of its callable actions: a call cannot exceed the effect of its caller.
    worst: Effect,
}

/// Finds all facades that the first subject reaches, nearest first.
///
/// The result is an upper bound: it assumes the worst action of each facade on the way and any depth, since chained
/// calls have no depth limit.
pub fn reachable_facades(subjects: &[PolicySubject<'_>]) -> Vec<ReachedFacade> {
    let Some(first) = subjects.first() else { return Vec::new() };
    let mut found: Vec<ReachedFacade> = Vec::new();
    let mut seen: BTreeMap<&str, Effect> = BTreeMap::new();
    let mut ways =
        VecDeque::from([SearchNode { subject: first, through: Vec::new(), worst: first.worst_effect() }]);
    while let Some(way) = ways.pop_front() {
        for name in invoked_facades(way.subject, subjects).filter(|name| *name != first.name) {
            let Some(subject) = subjects.iter().find(|subject| subject.name == name) else {
                merge_facade(&mut found, unknown_facade(name, &way.through));
                continue;
            };
            let callable: Vec<&Action> = callable_actions(&way, subject).collect();
            merge_facade(&mut found, reached_facade(subject, &callable, &way.through));
            let Some(worst) = callable.iter().map(|action| action.effect).max() else { continue };
            // A facade that is reached again is searched again only with a worse effect.
            if seen.get(name).is_none_or(|before| *before < worst) {
                seen.insert(subject.name, worst);
                let through = way.through.iter().cloned().chain([name.to_owned()]).collect();
                ways.push_back(SearchNode { subject, through, worst });
            }
        }
    }
    found
}

/// Lists the facades that a policy names, in its order and without duplicates. `*` names all others.
fn invoked_facades<'a>(
    subject: &PolicySubject<'a>,
    subjects: &'a [PolicySubject<'a>],
) -> impl Iterator<Item = &'a str> + use<'a> {
    let rules = &subject.policy.rules;
    let own = subject.name;
    let mut seen = BTreeSet::new();
    let names = rules.invoke.iter().flat_map(move |rule| {
        let others = if *rule == InvokeRule::Others { subjects } else { &[] };
        rule.facade()
            .into_iter()
            .chain(others.iter().map(|other| other.name).filter(move |name| *name != own))
    });
    names.filter(move |name| seen.insert(*name))
}

/// Lists the actions of a facade that can be called from a search node.
fn callable_actions<'a>(
    way: &SearchNode<'_>,
    subject: &PolicySubject<'a>,
) -> impl Iterator<Item = &'a Action> {
    let denied = &subject.policy.terms.deny;
    let actions = subject.surface.into_iter().flat_map(|surface| &surface.actions);
    let reach = way.subject.policy.rules.reach_of(way.subject.name);
    let name = subject.name;
    actions.filter(move |action| {
        !denied.contains(&action.name) && reach.may_invoke(name, &action.name) && action.effect <= way.worst
    })
}

fn unknown_facade(name: &str, through: &[String]) -> ReachedFacade {
    let (facade, through) = (name.to_owned(), through.to_vec());
    ReachedFacade { facade, through, known: false, actions: Vec::new(), may: Vec::new(), worst: None }
}

fn reached_facade(subject: &PolicySubject<'_>, callable: &[&Action], through: &[String]) -> ReachedFacade {
    let confirm = &subject.policy.terms.confirm;
    let worst = callable.iter().map(|action| action.effect).max();
    let reached = callable.iter().map(|action| ReachedAction {
        action: action.name.clone(),
        effect: action.effect.as_str(),
        confirmed: confirm.contains(&action.name),
    });
    ReachedFacade {
        facade: subject.name.to_owned(),
        through: through.to_vec(),
        known: true,
        actions: reached.collect(),
        // Without callable actions, its grants are unused.
        may: worst.map_or(Vec::new(), |worst| explain_rights(subject, worst)),
        worst,
    }
}

/// Adds a facade, or merges its new actions into the known entry.
fn merge_facade(found: &mut Vec<ReachedFacade>, new: ReachedFacade) {
    match found.iter_mut().find(|reach| reach.facade == new.facade) {
        Some(known) => {
            // Worse actions can use more grants, never fewer.
            if known.worst < new.worst {
                (known.worst, known.may) = (new.worst, new.may);
            }
            for action in new.actions {
                if !known.actions.contains(&action) {
                    known.actions.push(action);
                }
            }
        }
        None => found.push(new),
    }
}
