//! The data of a policy explanation.

use crate::FacadeKind;
use loggia_facade::{Effect, Surface};
use loggia_policy::{grants, model::Policy};
use serde::Serialize;

/// A facade with its policy.
pub struct PolicySubject<'a> {
    /// Facade name.
    pub name: &'a str,
    /// Policy of the facade.
    pub policy: &'a Policy,
    /// Surface without denied actions; `None` if there is only a policy.
    pub surface: Option<&'a Surface>,
    /// Its kind, which may give it rights beyond its policy.
    pub kind: FacadeKind,
}

impl PolicySubject<'_> {
    /// Worst effect of its actions; destructive if they are unknown.
    pub fn worst_effect(&self) -> Effect {
        let Some(surface) = self.surface else { return Effect::Destructive };
        let denied = &self.policy.terms.deny;
        let allowed = surface.actions.iter().filter(|action| !denied.contains(&action.name));
        allowed.map(|action| action.effect).max().unwrap_or(Effect::Read)
    }
}

/// Explanation of what a plugin may do.
#[derive(Debug, PartialEq, Serialize)]
pub struct PolicyExplanation {
    /// Facade name.
    pub facade: String,
    /// Capabilities of the plugin itself.
    pub may: Vec<GrantedRight>,
    /// Actions and their rules.
    pub actions: Vec<ExplainedAction>,
    /// Guards that look at its calls, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<ExplainedGuard>,
    /// Limits that differ from the defaults.
    pub limits: Vec<ChangedLimit>,
    /// Requested grants that the policy lacks, needed ones first.
    pub lacks: Vec<MissingGrant>,
    /// Facades that it reaches by calls, nearest first.
    pub reaches: Vec<ReachedFacade>,
    /// Set if data can be both read and sent away.
    pub warning: Option<ExfiltrationWarning>,
}

/// A capability that a policy grants.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GrantedRight {
    /// Key of the grant.
    pub grant: &'static str,
    /// Text that follows "may".
    pub says: String,
}

/// An action with its rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedAction {
    /// Action name.
    pub action: String,
    /// Effect; unknown for actions that are not published.
    pub effect: Option<&'static str>,
    /// Rule of the policy.
    pub rule: ActionRule,
    /// Grant that an unmet action needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

/// Rule of a policy for an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionRule {
    /// Runs when called.
    Allowed,
    /// Runs after confirmation by a person.
    Confirmed,
    /// Runs after confirmation by a person, or by the model where the client cannot ask.
    Claimed,
    /// Neither listed nor callable.
    Denied,
    /// Neither listed nor callable, because the policy lacks a grant that it needs.
    Unmet,
}

/// A guard of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedGuard {
    /// Its name.
    pub guard: String,
    /// Whether it looks at calls.
    pub before: bool,
    /// Whether it looks at results.
    pub after: bool,
}

/// A limit that the policy changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedLimit {
    /// Key of the limit.
    pub limit: &'static str,
    /// Value in the policy.
    pub value: String,
    /// Default value.
    pub default: String,
}

/// A requested grant that the policy lacks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissingGrant {
    /// The grant, as the plugin writes it.
    pub grant: String,
    /// The reason, as the plugin writes it.
    pub reason: String,
    /// Whether the plugin declares that it cannot work without it.
    pub needed: bool,
    /// Whether the host knows the grant.
    pub known: bool,
}

/// Warning that data may leave this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExfiltrationWarning {
    /// Readable data.
    pub reads: Vec<String>,
    /// Destinations.
    pub sends: Vec<String>,
}

/// A facade that is reached by calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReachedFacade {
    /// Facade name.
    pub facade: String,
    /// Facades on the way, in order; empty if it is called directly.
    pub through: Vec<String>,
    /// Whether it is loaded.
    pub known: bool,
    /// Callable actions.
    pub actions: Vec<ReachedAction>,
    /// Capabilities that these actions can use.
    pub may: Vec<GrantedRight>,
    /// Worst effect of these actions, if any.
    #[serde(skip)]
    pub worst: Option<Effect>,
}

/// A callable action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReachedAction {
    /// Action name.
    pub action: String,
    /// Effect.
    pub effect: &'static str,
    /// Whether it requires confirmation.
    pub confirmed: bool,
}

/// Explains the grants of a policy, as far as actions up to this effect can use them.
pub fn explain_rights(subject: &PolicySubject<'_>, worst: Effect) -> Vec<GrantedRight> {
    let beyond = subject.kind.right().map(|right| (right.key, right.text.to_owned()));
    let explained = beyond.into_iter().chain(grants::explain(subject.policy, worst));
    explained.map(|(grant, says)| GrantedRight { grant, says }).collect()
}
