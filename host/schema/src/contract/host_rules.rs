//! Schemas of host actions.
//!
//! Host actions are validated like those of plugins, so their errors and their `describe` are just as detailed.

use std::sync::{Arc, LazyLock};

use loggia_facade::{Action, Effect, Object};
use serde_json::{Value, json};

use crate::{
    contract::rules::ActionRules,
    model::{host_action::HostAction, keywords, limits},
};

/// A host action, with the rules of its parameters.
pub(crate) struct HostRules {
    pub(crate) action: Action,
    pub(crate) rules: ActionRules,
}

impl HostRules {
    /// Returns the rules of a host action, which are built once per process.
    pub(crate) fn get(host_action: HostAction) -> &'static Self {
        static ALL: LazyLock<Vec<HostRules>> = LazyLock::new(|| {
            HostAction::ALL.into_iter().map(|action| HostRules::read(action, parameters(action))).collect()
        });
        &ALL[host_action as usize]
    }

    /// Returns the rules of `describe` with everything that it accepts. Small facades show less of it, since models
    /// read all of their actions in one list.
    pub(crate) fn search() -> &'static Self {
        static SEARCH: LazyLock<HostRules> = LazyLock::new(|| {
            let mut rules = HostRules::read(HostAction::Describe, search_parameters());
            "Finds actions, or shows the parameters and examples of one."
                .clone_into(&mut rules.action.summary);
            rules
        });
        &SEARCH
    }

    /// Compiles all validators, so that no call has to.
    pub(crate) fn compile_all() {
        for rules in HostAction::ALL.into_iter().map(Self::get).chain([Self::search()]) {
            let _ = rules.rules.compiled();
        }
    }

    fn read(host_action: HostAction, params: Value) -> Self {
        let params = match params {
            Value::Object(params) => params,
            _ => Object::new(),
        };
        let action = Action {
            name: host_action.name().to_owned(),
            summary: host_action.summary().to_owned(),
            effect: if matches!(host_action, HostAction::Describe | HostAction::RunStatus) {
                Effect::Read
            } else {
                Effect::Write
            },
            idempotent: host_action != HostAction::Batch,
            open_world: false,
            long_running: false,
            details: host_action == HostAction::Describe,
            aliases: Vec::new(),
            needs: Vec::new(),
            group: None,
            resource: None,
            view: None,
            params: Arc::new(params),
            data: None,
            examples: Vec::new(),
        };
        debug_assert!(
            host_action.parameters().iter().all(|name| keywords::property(&action.params, name).is_some())
        );
        let rules = ActionRules::new(&action).unwrap_or_else(|problems| {
            unreachable!("the host's own schemas are valid: {}", problems.join("; "))
        });
        Self { action, rules }
    }
}

fn search_parameters() -> Value {
    json!({"type": "object", "properties": {
        "of": {"type": "string", "description": "An action's name; describes its parameters, with examples."},
        "query": {"type": "string", "description": "Words by which to find actions."},
        "group": {"type": "string", "description": "Only actions of this group."},
        "cursor": {"type": "string", "description": "The `cursor` of the reply before this one, for what follows."}}})
}

fn parameters(host_action: HostAction) -> Value {
    let lists_runs = "`run_status` without `run_id` lists your runs.";
    match host_action {
        HostAction::Describe => json!({"type": "object", "properties": {
            "of": {"type": "string", "description": "An action's name; without it all actions are listed.",
                "x-hint": "Name the action in `of`."}}}),
        HostAction::RunStatus => json!({"type": "object", "properties": {
            "run_id": {"type": "string", "description": "The id from the reply that started the run.", "x-hint": lists_runs},
            "include_trace": {"type": "boolean", "description": "Include the run's progress and log messages."}}}),
        HostAction::RunCancel => json!({"type": "object", "required": ["run_id"], "properties": {
            "run_id": {"type": "string", "description": "The id from the reply that started the run.", "x-hint": lists_runs}}}),
        HostAction::Batch => json!({"type": "object", "required": ["items"], "properties": {
            "items": {"type": "array", "minItems": 1, "maxItems": limits::BATCH, "items": {"type": "object"},
                "description": "The calls, in order.",
                "x-hint": "`items` is a list of calls, each {\"action\": …, plus its parameters}."},
            "mode": {"type": "string", "enum": ["stop", "continue"],
                "description": "Whether to continue after a failure; the default is stop."}}}),
    }
}
