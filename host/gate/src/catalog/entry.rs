//! One served facade, and the slots of the catalog.

use std::{
    fmt::Display,
    sync::{Arc, OnceLock},
};

use loggia_facade::{Action, Facade, Failure, Surface};
use loggia_policy::model::{FacadeRules, InvokeReach};
use loggia_schema::{ConsentSource, Contract};

use super::{entry_resource::EntryResource, exposure::FacadeExposure, skill::PluginSkill};
use crate::{
    access::{CallerKeys, CallerLogins},
    flow::{CallCounters, CircuitBreaker, FacadeFlow},
    guard::{GuardPost, GuardRoster},
};

/// One served facade with everything that a call to it needs. Immutable: a new version is a new entry.
pub struct CatalogEntry {
    /// Facade that answers calls.
    pub facade: Arc<dyn Facade>,
    /// Surface with validators and published forms.
    pub contract: Contract,
    /// Rules of the policy for its calls.
    pub rules: FacadeRules,
    /// Settings of the policy for its tools.
    pub exposure: FacadeExposure,
    /// Artifact that it came from, for logs: `sha256:…`, or an id of the workflow or upstream.
    pub origin: String,
    /// Policy in force, for logs: `sha256:…`. `None` without one.
    pub policy: Option<String>,
    /// Keys by which it knows its callers, if its policy allows that.
    pub caller_keys: Option<CallerKeys>,
    /// Logins that issue the credentials of its callers, if they can begin with a call.
    pub logins: Option<Arc<dyn CallerLogins>>,
    /// Instructions for models that come with it.
    pub skill: Option<Arc<PluginSkill>>,
    /// The actions that clients also read as resources.
    pub(crate) resources: Vec<EntryResource>,
    /// Permits, queue and CPU use of its calls.
    pub(crate) flow: FacadeFlow,
    /// Circuit breaker of its calls.
    pub breaker: CircuitBreaker,
    /// Counters of its calls.
    pub(crate) counters: CallCounters,
    /// Its guards, once it was called: then a call of a facade without guards pays for one comparison.
    pub(crate) guards: OnceLock<Arc<[Arc<GuardPost>]>>,
}

impl CatalogEntry {
    /// Creates an entry for a facade whose surface was sanitised and checked.
    pub fn new(
        facade: Arc<dyn Facade>,
        contract: Contract,
        rules: FacadeRules,
        exposure: FacadeExposure,
        origin: String,
    ) -> Self {
        let (pace, breaker) = (FacadeFlow::new(&rules), CircuitBreaker::new(rules.breaker));
        let resources = EntryResource::of_surface(contract.surface());
        Self {
            facade,
            contract,
            rules,
            exposure,
            origin,
            policy: None,
            caller_keys: None,
            logins: None,
            skill: None,
            resources,
            flow: pace,
            breaker,
            counters: CallCounters::default(),
            guards: OnceLock::new(),
        }
    }

    /// Sets the SHA-256 of the policy in force.
    #[must_use]
    pub fn with_policy_digest(self, digest: Option<impl Display>) -> Self {
        Self { policy: digest.map(|digest| format!("sha256:{digest}")), ..self }
    }

    /// Sets the keys by which the facade knows its callers.
    #[must_use]
    pub fn with_caller_keys(self, scopes: Option<CallerKeys>) -> Self {
        Self { caller_keys: scopes, ..self }
    }

    /// Sets the logins that issue the credentials of its callers.
    #[must_use]
    pub fn with_logins(self, logins: Option<Arc<dyn CallerLogins>>) -> Self {
        Self { logins, ..self }
    }

    /// Sets the skill that comes with the facade.
    #[must_use]
    pub fn with_skill(self, skill: Option<Arc<PluginSkill>>) -> Self {
        Self { skill, ..self }
    }

    /// Surface of the facade.
    pub fn surface(&self) -> &Arc<Surface> {
        self.contract.surface()
    }

    /// What looks at its calls.
    pub(crate) fn guards(&self, roster: Option<&GuardRoster>) -> &[Arc<GuardPost>] {
        self.guards
            .get_or_init(|| roster.map_or_else(Arc::default, |all| all.of_facade(&self.surface().name)))
    }

    /// Actions of other facades that it may invoke.
    pub fn reach(&self) -> InvokeReach<'_> {
        self.rules.reach_of(&self.surface().name)
    }

    /// Returns true if calls of an action may wait for an operator, where their client cannot ask its user: its policy wants it
    /// confirmed by a person, or it is a workflow, which may ask.
    pub fn may_await_operator(&self, action: &str) -> bool {
        let by_person = self.contract.policy().confirm_by == ConsentSource::Person;
        self.facade.is_durable() || (by_person && self.contract.needs_confirmation(action))
    }

    /// Resolves an empty action name to the facade's default action.
    pub fn resolve_name<'a>(&'a self, action: &'a str) -> &'a str {
        if !action.is_empty() {
            return action;
        }
        match (&self.surface().default_action, self.surface().actions.as_slice()) {
            (Some(default), _) => default,
            (None, [only]) => &only.name,
            (None, _) => "",
        }
    }

    /// Finds an action by its name or alias, ignoring case. An empty name means the default action.
    ///
    /// # Errors
    ///
    /// If there is no such action, or the policy denies it.
    pub fn lookup(&self, action: &str) -> Result<Action, Failure> {
        self.contract.action(self.resolve_name(action)).cloned()
    }
}

/// State of one name of the catalog.
#[derive(Clone)]
pub enum CatalogSlot {
    /// Calls are answered.
    Serving(Arc<CatalogEntry>),
    /// The name was served before, or its file could not be loaded. Calls fail with the reason.
    Unavailable(String),
}
