//! Pure: derives from policies what a plugin may do, itself and by calling others, and drafts policies.
//!
//! | file | concept |
//! |---|---|
//! | `model.rs` | the data of an explanation |
//! | `reach.rs` | the facades that a facade can reach by calls |
//! | `render.rs` | an explanation as text |
//! | `draft.rs` | a policy from the plugin's requests |

mod draft;
mod model;
mod reach;
mod render;
#[cfg(test)]
mod tests;

use loggia_facade::Effect;
use loggia_gate::guard::{GuardRoster, GuardRule};
use loggia_policy::{
    grants,
    grants::{WantedGrant, wanted},
    limits::LIMITS,
    model::Policy,
};
use loggia_schema::ConsentSource;

use self::model::{
    ActionRule, ChangedLimit, ExfiltrationWarning, ExplainedAction, MissingGrant, ReachedFacade,
};
pub use self::{
    draft::draft_policy,
    model::{ExplainedGuard, PolicyExplanation, PolicySubject},
    render::{OutputStyle, render_text},
};

/// Explains which guards look at the calls of a facade.
pub fn explain_guards(guards: &GuardRoster, facade: &str) -> Vec<ExplainedGuard> {
    let explained = guards.of_facade(facade);
    let explained = explained.iter().map(|post| {
        let GuardRule { name, before, after, .. } = &post.rule;
        ExplainedGuard { guard: name.clone(), before: *before, after: *after }
    });
    explained.collect()
}

/// Explains the first subject; the others are the facades that it can call.
pub fn explain(subjects: &[PolicySubject<'_>]) -> Option<PolicyExplanation> {
    let subject = subjects.first()?;
    let reaches = reach::reachable_facades(subjects);
    Some(PolicyExplanation {
        facade: subject.name.to_owned(),
        may: model::explain_rights(subject, subject.worst_effect()),
        actions: explain_actions(subject),
        guards: Vec::new(),
        limits: changed_limits(subject.policy),
        lacks: missing_grants(subject),
        warning: exfiltration_warning(subject, subjects, &reaches),
        reaches,
    })
}

fn explain_actions(subject: &PolicySubject<'_>) -> Vec<ExplainedAction> {
    let terms = &subject.policy.terms;
    let confirmed = match terms.confirm_by {
        ConsentSource::Person => ActionRule::Confirmed,
        ConsentSource::Model => ActionRule::Claimed,
    };
    let rule_of = |name: &String| if terms.confirm.contains(name) { confirmed } else { ActionRule::Allowed };
    let published = subject.surface.into_iter().flat_map(|surface| &surface.actions);
    let published =
        published.filter(|action| !terms.deny.contains(&action.name)).map(|action| ExplainedAction {
            action: action.name.clone(),
            effect: Some(Effect::as_str(action.effect)),
            rule: rule_of(&action.name),
            needs: None,
        });
    let ruled =
        |name: &String, rule| ExplainedAction { action: name.clone(), effect: None, rule, needs: None };
    // Without a plugin, only the policy names actions.
    let named = terms.confirm.iter().filter(|name| subject.surface.is_none() && !terms.deny.contains(name));
    let named = named.map(|name| ruled(name, confirmed));
    let denied = terms.deny.iter().map(|name| ruled(name, ActionRule::Denied));
    let unmet = terms.unmet.iter().map(|unmet| ExplainedAction {
        needs: Some(unmet.grant.clone()),
        ..ruled(&unmet.action, ActionRule::Unmet)
    });
    published.chain(named).chain(denied).chain(unmet).collect()
}

fn changed_limits(policy: &Policy) -> Vec<ChangedLimit> {
    let changed = LIMITS.iter().filter(|limit| limit.of(&policy.limits) != limit.default());
    let limited = changed.map(|limit| ChangedLimit {
        limit: limit.name(),
        value: limit.unit.text(limit.of(&policy.limits)),
        default: limit.unit.text(limit.default()),
    });
    limited.collect()
}

fn missing_grants(subject: &PolicySubject<'_>) -> Vec<MissingGrant> {
    let wants = subject.surface.map_or(&[][..], |surface| &surface.wants);
    let included = subject.kind.right().and_then(|right| right.includes);
    let is_met = |asked: &WantedGrant<'_>| {
        asked.is_granted(subject.policy) || included == Some(asked.grant.key().name)
    };
    let lacking = wants.iter().filter_map(|want| {
        let asked = wanted(&want.grant);
        let granted = asked.as_ref().is_some_and(is_met);
        (!granted).then(|| MissingGrant {
            grant: want.grant.clone(),
            reason: want.reason.clone(),
            needed: want.needed,
            known: asked.is_some(),
        })
    });
    let mut lacking: Vec<MissingGrant> = lacking.collect();
    lacking.sort_by_key(|lack| !lack.needed);
    lacking
}

/// Combines what can be read with where it can be sent, across all reached facades: each returns its results to the
/// same plugin, which can pass them on.
fn exfiltration_warning(
    subject: &PolicySubject<'_>,
    subjects: &[PolicySubject<'_>],
    reaches: &[ReachedFacade],
) -> Option<ExfiltrationWarning> {
    let others = reaches.iter().filter_map(|reach| {
        let subject = subjects.iter().find(|subject| subject.name == reach.facade)?;
        Some((subject, reach.worst?, format!(", by calling {}", subject.name)))
    });
    let (mut reads, mut sends) = (Vec::new(), Vec::new());
    let own = (subject, subject.worst_effect(), String::new());
    for (reached, worst, by) in std::iter::once(own).chain(others) {
        reads.extend(grants::reads(reached.policy).into_iter().map(|what| format!("{what}{by}")));
        sends.extend(grants::sends(reached.policy, worst).into_iter().map(|what| format!("{what}{by}")));
        sends.extend(reached.kind.right().map(|right| format!("{}{by}", right.sends)));
    }
    (!reads.is_empty() && !sends.is_empty()).then_some(ExfiltrationWarning { reads, sends })
}
