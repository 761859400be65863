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
        static ALL: LazyLock<Vec<HostRules>> =
            LazyLock::new(|| HostAction::ALL.into_iter().map(HostRules::read).collect());
        &ALL[host_action as usize]
    }

    /// Compiles all validators, so that no call has to.
    pub(crate) fn compile_all() {
        for host_action in HostAction::ALL {
            let _ = Self::get(host_action).rules.compiled();
        }
    }

    fn read(host_action: HostAction) -> Self {
        let params = match parameters(host_action) {
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
            group: None,
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
