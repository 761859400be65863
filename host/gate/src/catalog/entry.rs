//! One facade being served, and what stands under a name.

use std::sync::Arc;

use loggia_facade::{Action, Facade, Failure, Surface};
use loggia_schema::Contract;

use super::exposure::Exposure;
use crate::{
    access::{Rules, Scopes},
    flow::{CallCounters, CircuitBreaker, FacadeFlow},
};

/// One facade being served, with all that a call to it needs. Never changed: a new version is a new entry.
pub struct Entry {
    /// What answers.
    pub facade: Arc<dyn Facade>,
    /// Its surface with validators and published form.
    pub contract: Contract,
    /// What the operator's policy says of its calls.
    pub rules: Rules,
    /// How it is published.
    pub exposure: Exposure,
    /// Which bytes it came from, for logs: `sha256:…`, or the workflow's or upstream's own mark.
    pub origin: String,
    /// Names callers to it, where its policy lets it tell them apart.
    pub caller_keys: Option<Scopes>,
    /// How its calls have run so far.
    pub(crate) flow: FacadeFlow,
    /// How they have failed.
    pub breaker: CircuitBreaker,
    /// Where they are counted.
    pub(crate) counters: CallCounters,
}

impl Entry {
    /// An entry for a facade whose surface was sanitised and checked.
    pub fn new(
        facade: Arc<dyn Facade>,
        contract: Contract,
        rules: Rules,
        exposure: Exposure,
        origin: String,
    ) -> Self {
        let (pace, breaker) = (FacadeFlow::new(&rules), CircuitBreaker::new(rules.breaker));
        Self {
            facade,
            contract,
            rules,
            exposure,
            origin,
            caller_keys: None,
            flow: pace,
            breaker,
            counters: CallCounters::default(),
        }
    }

    /// The same facade, which may tell callers apart.
    #[must_use]
    pub fn with_scopes(self, scopes: Option<Scopes>) -> Self {
        Self { caller_keys: scopes, ..self }
    }

    /// What the facade publishes.
    pub fn surface(&self) -> &Arc<Surface> {
        self.contract.surface()
    }

    /// The name of the action that is meant: without one the facade's default.
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

    /// An action by its name, an alias or another case; without a name the facade's default.
    ///
    /// # Errors
    ///
    /// If there is none, or none that may be called.
    pub fn lookup(&self, action: &str) -> Result<Action, Failure> {
        self.contract.action(self.resolve_name(action)).cloned()
    }
}

/// What stands under a name.
#[derive(Clone)]
pub enum Slot {
    /// Calls are answered.
    Serving(Arc<Entry>),
    /// The name was served, or claimed by a file that could not be loaded; calls are answered with the reason.
    Unavailable(String),
}
