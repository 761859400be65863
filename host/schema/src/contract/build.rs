//! Construction of contracts: checks a surface and builds the rules of its actions.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use loggia_facade::{Action, Surface};

use crate::{
    contract::{
        action_index::ActionIndex,
        explain::{context::ErrorContext, failure},
        host_rules::HostRules,
        owners::ParameterOwners,
        rule_table::{RuleTable, read_rules},
        rules::{ActionRules, SurfaceChecks},
    },
    model::{
        action_policy::ActionPolicy,
        action_set::ActionSet,
        bounds::{self, SurfaceProblems},
        keywords, limits,
        pattern::PatternBudget,
        secrets,
        surface_limits::SurfaceLimits,
        work,
    },
    text::show,
};

/// A facade's surface, checked against the bounds, with the rules of its actions.
pub struct Contract {
    pub(crate) surface: Arc<Surface>,
    pub(crate) rules: RuleTable,
    /// Names and aliases, as written and in lower case, with the index of their action.
    names: HashMap<String, usize>,
    pub(crate) policy: ActionPolicy,
    /// Every action.
    pub(crate) all: ActionSet,
    /// The actions that may become runs.
    pub(crate) detachable: ActionSet,
    /// The actions that need a person's confirmation.
    pub(crate) confirmed: ActionSet,
    /// Whether calls may carry the code of a login.
    pub(crate) takes_login_codes: bool,
    /// Built at the first call with a name that its action does not have.
    owners: OnceLock<ParameterOwners>,
    /// Built by [`compile`](Self::compile) or at the first search.
    words: OnceLock<ActionIndex>,
    has_secrets: OnceLock<bool>,
}

impl Contract {
    /// Checks the surface of a plugin: bounds, names, schemas, defaults and examples. Compiles every validator, so that
    /// no call has to. The texts should be [sanitised](crate::sanitise_surface).
    ///
    /// # Errors
    ///
    /// All problems, not only the first.
    pub fn new(surface: Arc<Surface>) -> Result<Self, SurfaceProblems> {
        Self::within(surface, &SurfaceLimits::PLUGIN)
    }

    /// Checks a surface by the limits of its origin. The validators of a facade with more than 64 actions are checked
    /// and dropped: each is compiled again at the first call that needs it.
    ///
    /// # Errors
    ///
    /// All problems, not only the first.
    pub fn within(surface: Arc<Surface>, most: &SurfaceLimits) -> Result<Self, SurfaceProblems> {
        HostRules::compile_all();
        let mut problems = bounds::check_surface(&surface, most);
        let keep = surface.actions.len() <= limits::COMPILED;
        let patterns = PatternBudget::new(most.patterns);
        let checks = SurfaceChecks { most, patterns, originals: keep };
        let _bound = work::limit(most.work_at_load);
        let mut kept = Vec::new();
        for action in &surface.actions {
            let texts = match read_rules(action) {
                Ok(rules) => {
                    let texts = rules.check(action, &checks, |instance| {
                        let context = ErrorContext {
                            rules: &rules,
                            action: &action.name,
                            instance,
                            owners: &|_| Vec::new(),
                            discreet: false,
                        };
                        failure::explain(&context).message
                    });
                    if keep {
                        kept.push(rules);
                    }
                    texts
                }
                Err(texts) => texts,
            };
            problems.extend(texts.iter().map(|text| for_action(action, text)));
        }
        if !problems.is_empty() {
            return Err(SurfaceProblems::from_list(problems));
        }
        let rules = if keep { RuleTable::from_rules(kept) } else { RuleTable::unread(surface.actions.len()) };
        Ok(Self::from_parts(surface, rules))
    }

    /// Builds the contract of a surface that [`within`](Self::within) has accepted before, for example from a cache.
    /// Checks only what is needed; validators are compiled at first use.
    pub fn from_checked(surface: Arc<Surface>) -> Result<Self, SurfaceProblems> {
        if surface.actions.len() > limits::COMPILED {
            let rules = RuleTable::unread(surface.actions.len());
            return Ok(Self::from_parts(surface, rules));
        }
        let (mut problems, mut rules) = (Vec::new(), Vec::new());
        for action in &surface.actions {
            match read_rules(action) {
                Ok(read) => rules.push(read),
                Err(texts) => problems.extend(texts.iter().map(|text| for_action(action, text))),
            }
        }
        if !problems.is_empty() {
            return Err(SurfaceProblems::from_list(problems));
        }
        Ok(Self::from_parts(surface, RuleTable::from_rules(rules)))
    }

    /// Combines a surface with the rules of its actions, under the default policy.
    pub(crate) fn from_parts(surface: Arc<Surface>, rules: RuleTable) -> Self {
        let mut names = HashMap::new();
        for (index, action) in surface.actions.iter().enumerate() {
            for name in std::iter::once(&action.name).chain(&action.aliases) {
                names.insert(name.to_ascii_lowercase(), index);
                names.insert(name.clone(), index);
            }
        }
        Self {
            all: ActionSet::first(surface.actions.len()),
            detachable: ActionSet::matching(&surface.actions, |action| action.long_running),
            confirmed: ActionSet::EMPTY,
            takes_login_codes: false,
            surface,
            rules,
            names,
            policy: ActionPolicy::default(),
            owners: OnceLock::new(),
            words: OnceLock::new(),
            has_secrets: OnceLock::new(),
        }
    }

    /// The metadata that the facade publishes.
    pub fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    /// The action on one line: `update(id: string, depth?: xs|s|m|l)`.
    pub fn signature(&self, action: &Action) -> &str {
        self.rules_of(action).map_or("", |rules| &rules.signature)
    }

    /// Does what would otherwise be done at first use: compiles the validators that are not compiled yet or, for a
    /// facade with more than 64 actions, reads the words by which `describe` finds them. Call it in the background
    /// after building from a cache, so that no call has to wait.
    pub fn compile(&self) -> Result<(), SurfaceProblems> {
        HostRules::compile_all();
        if !self.is_read_at_load() {
            self.words();
            return Ok(());
        }
        let broken: Vec<String> = self
            .with_rules()
            .filter_map(|(_, action, rules)| {
                rules.compiled().err().map(|problem| for_action(action, problem))
            })
            .collect();
        if broken.is_empty() { Ok(()) } else { Err(SurfaceProblems::from_list(broken)) }
    }

    /// Whether the rules of all actions are read when the facade is loaded.
    fn is_read_at_load(&self) -> bool {
        self.surface.actions.len() <= limits::COMPILED
    }

    /// Whether the facade has more actions than a list shows.
    pub(crate) fn is_large(&self) -> bool {
        self.surface.actions.len() > limits::LISTED
    }

    /// Finds the index of an action by name, alias, or other case.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.names.get(name).or_else(|| self.names.get(&name.to_ascii_lowercase())).copied()
    }

    /// Finds the index of an action by exactly its name.
    pub(crate) fn index_of_name(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied().filter(|index| self.surface.actions[*index].name == name)
    }

    /// The action of a call that names none.
    pub(crate) fn default_action(&self) -> Option<usize> {
        match &self.surface.default_action {
            Some(name) => self.index(name),
            None => (self.surface.actions.len() == 1).then_some(0),
        }
    }

    /// Whether any action has secret parameters. Where rules are not read at load, a mark anywhere in a schema counts.
    pub(crate) fn has_secrets(&self) -> bool {
        *self.has_secrets.get_or_init(|| {
            if self.is_read_at_load() {
                self.with_rules().any(|(_, _, rules)| rules.secrets.has_secrets())
            } else {
                self.surface.actions.iter().any(|action| secrets::has_marks(&action.params))
            }
        })
    }

    /// Which actions take a parameter of a name. Where rules are not read at load, a name counts that the schema as
    /// written has at its root.
    pub(crate) fn owners(&self) -> &ParameterOwners {
        self.owners.get_or_init(|| {
            ParameterOwners::collect(self.surface.actions.iter().enumerate().map(|(index, action)| {
                let mut names = Vec::new();
                if self.is_read_at_load() {
                    names.extend(self.rules_at(index).parameters().iter().map(|member| member.name.as_str()));
                } else {
                    keywords::property_names(&action.params, &mut names);
                }
                (index, names)
            }))
        })
    }

    /// The words by which actions are found.
    pub(crate) fn words(&self) -> &ActionIndex {
        self.words.get_or_init(|| ActionIndex::new(&self.surface.actions))
    }

    /// The rules of the action at this index.
    pub(crate) fn rules_at(&self, index: usize) -> &ActionRules {
        self.rules.get(index, &self.surface.actions[index])
    }

    /// The actions with their rules, which are read as the iterator advances.
    pub(crate) fn with_rules(&self) -> impl Iterator<Item = (usize, &Action, &ActionRules)> {
        let actions = self.surface.actions.iter().enumerate();
        actions.map(|(index, action)| (index, action, self.rules.get(index, action)))
    }

    pub(crate) fn rules_of(&self, action: &Action) -> Option<&ActionRules> {
        let by_address = self.surface.actions.element_offset(action);
        Some(self.rules_at(by_address.or_else(|| self.index(&action.name))?))
    }
}

impl std::fmt::Debug for Contract {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contract").field("surface", &self.surface.name).finish_non_exhaustive()
    }
}

fn for_action(action: &Action, text: &str) -> String {
    format!("action `{}`: {text}", show::name(&action.name))
}
