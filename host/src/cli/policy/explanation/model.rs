//! What follows from a policy, as data.

use loggia_facade::{Effect, Surface};
use serde::Serialize;

use crate::config::{Policy, policy::grants};

/// A facade with what its operator says of it.
pub struct PolicySubject<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it may use.
    pub policy: &'a Policy,
    /// What it publishes, without what is denied; none where there is a policy and no plugin yet.
    pub surface: Option<&'a Surface>,
}

impl PolicySubject<'_> {
    /// The worst that its actions do; where they are not known, anything.
    pub fn worst_effect(&self) -> Effect {
        let Some(surface) = self.surface else { return Effect::Destructive };
        let denied = &self.policy.terms.deny;
        let allowed = surface.actions.iter().filter(|action| !denied.contains(&action.name));
        allowed.map(|action| action.effect).max().unwrap_or(Effect::Read)
    }
}

/// What a plugin may do.
#[derive(Debug, PartialEq, Serialize)]
pub struct PolicyExplanation {
    /// Whose policy it is.
    pub facade: String,
    /// What it may use itself.
    pub may: Vec<GrantedRight>,
    /// Its actions, with what is done with them.
    pub actions: Vec<ExplainedAction>,
    /// The limits that are not the defaults.
    pub limits: Vec<ChangedLimit>,
    /// What it wants and may not, the needed first.
    pub lacks: Vec<MissingGrant>,
    /// What it reaches by calling others, the nearest first.
    pub reaches: Vec<ReachedFacade>,
    /// What can be read and sent away, where both can be.
    pub warning: Option<ExfiltrationWarning>,
}

/// One thing that a plugin may use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GrantedRight {
    /// The key that grants it.
    pub grant: &'static str,
    /// In words that follow "may".
    pub says: String,
}

/// One action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedAction {
    /// Its name.
    pub action: String,
    /// What it does to the world; not known of what is denied.
    pub effect: Option<&'static str>,
    /// What the policy says of it.
    pub rule: ActionRule,
}

/// What is done with an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionRule {
    /// It runs when it is called.
    Allowed,
    /// The person is asked first.
    Confirmed,
    /// It is neither shown nor run.
    Denied,
}

/// A limit that the policy changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedLimit {
    /// The key.
    pub limit: &'static str,
    /// What it is set to.
    pub value: String,
    /// What it would be.
    pub default: String,
}

/// Something that a plugin asks for and does not get.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissingGrant {
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
pub struct ExfiltrationWarning {
    /// What can be read.
    pub reads: Vec<String>,
    /// Where it can be sent.
    pub sends: Vec<String>,
}

/// One facade that is reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReachedFacade {
    /// Which.
    pub facade: String,
    /// The facades between, in their order; none where it is called directly.
    pub through: Vec<String>,
    /// It is among those that were looked at.
    pub known: bool,
    /// Which of its actions can be called, with their effects.
    pub actions: Vec<ReachedAction>,
    /// What it may use itself, by these actions.
    pub may: Vec<GrantedRight>,
    /// The worst effect of these; none where there are none.
    #[serde(skip)]
    pub worst: Option<Effect>,
}

/// One action that can be called.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReachedAction {
    /// Its name.
    pub action: String,
    /// What it does to the world.
    pub effect: &'static str,
    /// The person is asked first.
    pub confirmed: bool,
}

/// What a policy grants, in words, as far as actions of this effect and below can use it.
pub fn explain_rights(policy: &Policy, worst: Effect) -> Vec<GrantedRight> {
    let explained = grants::explain(policy, worst).into_iter();
    explained.map(|(grant, says)| GrantedRight { grant, says }).collect()
}
