//! What follows from a policy: what its plugin may do, itself and by calling others. Pure.

mod reach;
mod rights;
#[cfg(test)]
pub mod tests;

use loggia_facade::{Effect, Surface};
use serde::Serialize;

pub use self::reach::Reach;
use crate::config::{
    Policy,
    policy::{
        limits::{Bounds, LIMITS},
        want::Asked,
    },
};

/// A facade with what its operator says of it.
pub struct Subject<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it may use.
    pub policy: &'a Policy,
    /// What it publishes, without what is denied; none where there is a policy and no plugin yet.
    pub surface: Option<&'a Surface>,
}

impl Subject<'_> {
    /// The worst that its actions do; where they are not known, anything.
    fn worst(&self) -> Effect {
        let Some(surface) = self.surface else { return Effect::Destructive };
        let denied = &self.policy.terms.deny;
        let allowed = surface.actions.iter().filter(|action| !denied.contains(&action.name));
        allowed.map(|action| action.effect).max().unwrap_or(Effect::Read)
    }
}

/// What a plugin may do.
#[derive(Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Whose policy it is.
    pub facade: String,
    /// What it may use itself.
    pub may: Vec<Right>,
    /// Its actions, with what is done with them.
    pub actions: Vec<Ruled>,
    /// The limits that are not the defaults.
    pub limits: Vec<Limited>,
    /// What it wants and may not, the needed first.
    pub lacks: Vec<Lack>,
    /// What it reaches by calling others, the nearest first.
    pub reaches: Vec<Reach>,
    /// What can be read and sent away, where both can be.
    pub warning: Option<Warning>,
}

/// One thing that a plugin may use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Right {
    /// The key that grants it.
    pub grant: &'static str,
    /// In words that follow "may".
    pub says: String,
}

/// One action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ruled {
    /// Its name.
    pub action: String,
    /// What it does to the world; not known of what is denied.
    pub effect: Option<&'static str>,
    /// What the policy says of it.
    pub rule: Rule,
}

/// What is done with an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// It runs when it is called.
    Allowed,
    /// The person is asked first.
    Confirmed,
    /// It is neither shown nor run.
    Denied,
}

/// A limit that the policy changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limited {
    /// The key.
    pub limit: &'static str,
    /// What it is set to.
    pub value: String,
    /// What it would be.
    pub default: String,
}

/// Something that a plugin asks for and does not get.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lack {
    /// In the plugin's words.
    pub grant: String,
    /// In the plugin's words.
    pub reason: String,
    /// It is of no use without it, as it says.
    pub needed: bool,
    /// Whether there is such a grant at all.
    pub known: bool,
}

/// What is read may leave this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Warning {
    /// What can be read.
    pub reads: Vec<String>,
    /// Where it can be sent.
    pub sends: Vec<String>,
}

/// What the first of these may do, itself and by calling the others. Those that are not among them are not there.
pub fn explain(subjects: &[Subject<'_>]) -> Option<Explanation> {
    let subject = subjects.first()?;
    let reaches = reach::reaches(subjects);
    Some(Explanation {
        facade: subject.name.to_owned(),
        may: rights::of(subject.policy, subject.worst()),
        actions: actions(subject),
        limits: limits(subject.policy),
        lacks: lacks(subject),
        warning: warning(subject, subjects, &reaches),
        reaches,
    })
}

fn actions(subject: &Subject<'_>) -> Vec<Ruled> {
    let terms = &subject.policy.terms;
    let confirmed = |name: &String| terms.confirm.contains(name);
    let published = subject.surface.into_iter().flat_map(|surface| &surface.actions);
    let published = published.filter(|action| !terms.deny.contains(&action.name)).map(|action| Ruled {
        action: action.name.clone(),
        effect: Some(Effect::as_str(action.effect)),
        rule: if confirmed(&action.name) { Rule::Confirmed } else { Rule::Allowed },
    });
    let ruled = |name: &String, rule| Ruled { action: name.clone(), effect: None, rule };
    // Without a plugin, the policy alone says which actions there are.
    let named = terms.confirm.iter().filter(|name| subject.surface.is_none() && !terms.deny.contains(name));
    let named = named.map(|name| ruled(name, Rule::Confirmed));
    let denied = terms.deny.iter().map(|name| ruled(name, Rule::Denied));
    published.chain(named).chain(denied).collect()
}

fn limits(policy: &Policy) -> Vec<Limited> {
    let bounds = Bounds { limits: policy.limits.clone(), rules: policy.rules.clone() };
    let changed = LIMITS.iter().filter(|limit| limit.of(&bounds) != limit.default());
    let limited = changed.map(|limit| Limited {
        limit: limit.name,
        value: limit.unit.text(limit.of(&bounds)),
        default: limit.unit.text(limit.default()),
    });
    limited.collect()
}

fn lacks(subject: &Subject<'_>) -> Vec<Lack> {
    let wants = subject.surface.map_or(&[][..], |surface| &surface.wants);
    let lacking = wants.iter().filter_map(|want| {
        let asked = Asked::parse(&want.grant);
        let granted = asked.is_some_and(|asked| asked.is_granted(subject.policy));
        (!granted).then(|| Lack {
            grant: want.grant.clone(),
            reason: want.reason.clone(),
            needed: want.needed,
            known: asked.is_some(),
        })
    });
    let mut lacking: Vec<Lack> = lacking.collect();
    lacking.sort_by_key(|lack| !lack.needed);
    lacking
}

/// What can be read beside what can be sent, whoever of those that are reached does it: they all answer the same
/// plugin, and take from it what they are given.
fn warning(subject: &Subject<'_>, subjects: &[Subject<'_>], reaches: &[Reach]) -> Option<Warning> {
    let others = reaches.iter().filter_map(|reach| {
        let subject = subjects.iter().find(|subject| subject.name == reach.facade)?;
        Some((subject.policy, reach.worst?, format!(", by calling {}", subject.name)))
    });
    let (mut reads, mut sends) = (Vec::new(), Vec::new());
    let own = (subject.policy, subject.worst(), String::new());
    for (policy, worst, by) in std::iter::once(own).chain(others) {
        reads.extend(rights::reads(policy).into_iter().map(|what| format!("{what}{by}")));
        sends.extend(rights::sends(policy, worst).into_iter().map(|what| format!("{what}{by}")));
    }
    (!reads.is_empty() && !sends.is_empty()).then_some(Warning { reads, sends })
}
