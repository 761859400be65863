//! Schemas of the host's own actions.
//!
//! They are held to schemas as actions of plugins are, so their errors and their `describe` are just as detailed.

use std::sync::{Arc, LazyLock};

use loggia_facade::{Action, Effect, Object};
use serde_json::{Value, json};

use crate::{
    contract::rules::ActionRules,
    model::{host_action::HostAction, keywords, limits},
};

/// One of the host's own actions, as a plugin would have written it.
pub(crate) struct HostRules {
    pub action: Action,
    pub rules: ActionRules,
}

impl HostRules {
    /// Read once in the life of the process.
    pub(crate) fn get(own: HostAction) -> &'static Self {
        static ALL: LazyLock<Vec<HostRules>> =
            LazyLock::new(|| HostAction::ALL.into_iter().map(HostRules::read).collect());
        &ALL[own as usize]
    }

    /// Compiles what no call should have to wait for.
    pub(crate) fn compile_all() {
        for own in HostAction::ALL {
            let _ = Self::get(own).rules.compiled();
        }
    }

    fn read(own: HostAction) -> Self {
        let params = match parameters(own) {
            Value::Object(params) => params,
            _ => Object::new(),
        };
        let action = Action {
            name: own.name().to_owned(),
            summary: own.summary().to_owned(),
            effect: if matches!(own, HostAction::Describe | HostAction::RunStatus) {
                Effect::Read
            } else {
                Effect::Write
            },
            idempotent: own != HostAction::Batch,
            open_world: false,
            long_running: false,
            details: own == HostAction::Describe,
            aliases: Vec::new(),
            params: Arc::new(params),
            data: None,
            examples: Vec::new(),
        };
        debug_assert!(own.parameters().iter().all(|name| keywords::property(&action.params, name).is_some()));
        let rules = ActionRules::new(&action).unwrap_or_else(|problems| {
            unreachable!("the host's own schemas are valid: {}", problems.join("; "))
        });
        Self { action, rules }
    }
}

fn parameters(own: HostAction) -> Value {
    let lists_runs = "`run_status` without `run_id` lists your runs.";
    match own {
        HostAction::Describe => json!({"type": "object", "properties": {
            "of": {"type": "string", "description": "An action's name; without it all actions are listed.",
                "x-hint": "Name the action in `of`."}}}),
        HostAction::RunStatus => json!({"type": "object", "properties": {
            "run_id": {"type": "string", "description": "As the reply that began the run gave it.", "x-hint": lists_runs},
            "include_trace": {"type": "boolean", "description": "With what the run said meanwhile."}}}),
        HostAction::RunCancel => json!({"type": "object", "required": ["run_id"], "properties": {
            "run_id": {"type": "string", "description": "As the reply that began the run gave it.", "x-hint": lists_runs}}}),
        HostAction::Batch => json!({"type": "object", "required": ["items"], "properties": {
            "items": {"type": "array", "minItems": 1, "maxItems": limits::BATCH, "items": {"type": "object"},
                "description": "The calls, in order.",
                "x-hint": "`items` is a list of calls, each {\"action\": …, with its parameters beside it}."},
            "mode": {"type": "string", "enum": ["stop", "continue"],
                "description": "What follows when one fails; without it stop."}}}),
    }
}
