//! Construction of contracts: checks a surface and builds the rules of its actions.

use std::{collections::HashMap, sync::Arc};

use loggia_facade::{Action, Surface};

use crate::{
    contract::{
        explain::{context::ErrorContext, failure},
        host_rules::HostRules,
        rules::ActionRules,
    },
    model::{
        action_policy::ActionPolicy,
        bounds::{self, SurfaceProblems},
        limits, nesting,
        pattern::PatternBudget,
        work,
    },
    text::show,
};

/// A facade's surface, checked against the bounds, with the rules of its actions.
pub struct Contract {
    pub(crate) surface: Arc<Surface>,
    /// One for each action, in their order.
    pub(crate) rules: Vec<ActionRules>,
    /// Names and aliases, as written and in lower case, with the index of their action.
    names: HashMap<String, usize>,
    pub(crate) policy: ActionPolicy,
}

impl Contract {
    /// Checks a surface: bounds, names, schemas, defaults and examples. Compiles every validator, so that no call has
    /// to. The texts should be [sanitised](crate::sanitise_surface).
    ///
    /// # Errors
    ///
    /// All problems, not only the first.
    pub fn new(surface: Arc<Surface>) -> Result<Self, SurfaceProblems> {
        HostRules::compile_all();
        let mut problems = bounds::check_surface(&surface);
        let rules = read_rules(&surface);
        let patterns = PatternBudget::default();
        let _bound = work::limit(limits::WORK_AT_LOAD);
        for (action, rules) in surface.actions.iter().zip(&rules) {
            let texts = match rules {
                Ok(rules) => rules.check(action, &patterns, |instance| {
                    let context =
                        ErrorContext { rules, action: &action.name, instance, others: &[], discreet: false };
                    failure::explain(&context).message
                }),
                Err(texts) => texts.clone(),
            };
            problems.extend(texts.iter().map(|text| for_action(action, text)));
        }
        if problems.is_empty() { Self::build(surface, rules) } else { Err(SurfaceProblems::from_list(problems)) }
    }

    /// Builds the contract of a surface that [`new`](Self::new) has accepted before, for example from a cache. Checks
    /// only what is needed; validators are compiled at first use.
    pub fn from_checked(surface: Arc<Surface>) -> Result<Self, SurfaceProblems> {
        let rules = read_rules(&surface);
        Self::build(surface, rules)
    }

    fn build(surface: Arc<Surface>, rules: Vec<Result<ActionRules, Vec<String>>>) -> Result<Self, SurfaceProblems> {
        let mut problems = Vec::new();
        let mut ready = Vec::new();
        for (action, rules) in surface.actions.iter().zip(rules) {
            match rules {
                Ok(rules) => ready.push(rules),
                Err(texts) => problems.extend(texts.iter().map(|text| for_action(action, text))),
            }
        }
        if !problems.is_empty() {
            return Err(SurfaceProblems::from_list(problems));
        }
        Ok(Self::from_parts(surface, ready))
    }

    /// Combines a surface with the rules of its actions, under the default policy.
    pub(crate) fn from_parts(surface: Arc<Surface>, rules: Vec<ActionRules>) -> Self {
        let mut names = HashMap::new();
        for (index, action) in surface.actions.iter().enumerate() {
            for name in std::iter::once(&action.name).chain(&action.aliases) {
                names.insert(name.to_ascii_lowercase(), index);
                names.insert(name.clone(), index);
            }
        }
        Self { surface, rules, names, policy: ActionPolicy::default() }
    }

    /// The metadata that the facade publishes.
    pub fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    /// The action on one line: `update(id: string, depth?: xs|s|m|l)`.
    pub fn signature(&self, action: &Action) -> &str {
        self.rules_of(action).map_or("", |rules| &rules.signature)
    }

    /// Compiles the validators that are not compiled yet. Call it in the background after building from a cache, so
    /// that no call has to wait.
    pub fn compile(&self) -> Result<(), SurfaceProblems> {
        HostRules::compile_all();
        let broken: Vec<String> = self
            .surface
            .actions
            .iter()
            .zip(&self.rules)
            .filter_map(|(action, rules)| rules.compiled().err().map(|problem| for_action(action, problem)))
            .collect();
        if broken.is_empty() { Ok(()) } else { Err(SurfaceProblems::from_list(broken)) }
    }

    /// Finds the index of an action by name, alias, or other case.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.names.get(name).or_else(|| self.names.get(&name.to_ascii_lowercase())).copied()
    }

    /// The action of a call that names none.
    pub(crate) fn default_action(&self) -> Option<usize> {
        match &self.surface.default_action {
            Some(name) => self.index(name),
            None => (self.surface.actions.len() == 1).then_some(0),
        }
    }

    /// Whether any action has secret parameters.
    pub(crate) fn has_secrets(&self) -> bool {
        self.rules.iter().any(|rules| rules.secrets.has_secrets())
    }

    pub(crate) fn rules(&self) -> &[ActionRules] {
        &self.rules
    }

    pub(crate) fn rules_of(&self, action: &Action) -> Option<&ActionRules> {
        let by_address = self.surface.actions.iter().position(|known| std::ptr::eq(known, action));
        self.rules.get(by_address.or_else(|| self.index(&action.name))?)
    }
}

impl std::fmt::Debug for Contract {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contract").field("surface", &self.surface.name).finish_non_exhaustive()
    }
}

/// Reads the schema of every action, or lists its problems.
fn read_rules(surface: &Surface) -> Vec<Result<ActionRules, Vec<String>>> {
    let read = |action: &Action| {
        if nesting::nesting(action.params.values()) > limits::NESTING {
            return Err(vec![bounds::too_deep("parameters")]);
        }
        ActionRules::new(action).map_err(|texts| {
            texts.iter().map(|text| format!("the schema of its parameters cannot be used, {text}")).collect()
        })
    };
    surface.actions.iter().map(read).collect()
}

fn for_action(action: &Action, text: &str) -> String {
    format!("action `{}`: {text}", show::name(&action.name))
}
