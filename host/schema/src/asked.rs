//! The parameters of the host's own actions, held to schemas as those of plugins are: so their errors teach as much,
//! and `describe` tells of them in the same words.

use std::sync::{Arc, LazyLock};

use loggia_facade::{Action, Effect, Failure, Object, code};
use serde_json::{Value, json};

use crate::{
    Contract, View, keywords, limits,
    own::Own,
    prepare::ready,
    route::{Mode, Target},
    rules::{Rules, call},
};

/// One of the host's own actions, as a plugin would have written it.
pub(crate) struct Asked {
    pub action: Action,
    pub rules: Rules,
}

impl Asked {
    /// Read once in the life of the process.
    pub(crate) fn of(own: Own) -> &'static Self {
        static ALL: LazyLock<Vec<Asked>> = LazyLock::new(|| Own::ALL.into_iter().map(Asked::read).collect());
        &ALL[own as usize]
    }

    /// Compiles what no call should have to wait for.
    pub(crate) fn compile_all() {
        for own in Own::ALL {
            let _ = Self::of(own).rules.compiled();
        }
    }

    fn read(own: Own) -> Self {
        let params = match parameters(own) {
            Value::Object(params) => params,
            _ => Object::new(),
        };
        let action = Action {
            name: own.name().to_owned(),
            summary: own.summary().to_owned(),
            effect: if matches!(own, Own::Describe | Own::RunStatus) { Effect::Read } else { Effect::Write },
            idempotent: own != Own::Batch,
            open_world: false,
            long_running: false,
            details: own == Own::Describe,
            aliases: Vec::new(),
            params: Arc::new(params),
            data: None,
            examples: Vec::new(),
        };
        debug_assert!(own.parameters().iter().all(|name| keywords::property(&action.params, name).is_some()));
        let rules = Rules::new(&action).unwrap_or_else(|problems| {
            unreachable!("the host's own schemas are valid: {}", problems.join("; "))
        });
        Self { action, rules }
    }
}

fn parameters(own: Own) -> Value {
    let lists_runs = "`run_status` without `run_id` lists your runs.";
    match own {
        Own::Describe => json!({"type": "object", "properties": {
            "of": {"type": "string", "description": "An action's name; without it all actions are listed.",
                "x-hint": "Name the action in `of`."}}}),
        Own::RunStatus => json!({"type": "object", "properties": {
            "run_id": {"type": "string", "description": "As the reply that began the run gave it.", "x-hint": lists_runs},
            "include_trace": {"type": "boolean", "description": "With what the run said meanwhile."}}}),
        Own::RunCancel => json!({"type": "object", "required": ["run_id"], "properties": {
            "run_id": {"type": "string", "description": "As the reply that began the run gave it.", "x-hint": lists_runs}}}),
        Own::Batch => json!({"type": "object", "required": ["items"], "properties": {
            "items": {"type": "array", "minItems": 1, "maxItems": limits::BATCH, "items": {"type": "object"},
                "description": "The calls, in order.",
                "x-hint": "`items` is a list of calls, each {\"action\": …, with its parameters beside it}."},
            "mode": {"type": "string", "enum": ["stop", "continue"],
                "description": "What follows when one fails; without it stop."}}}),
    }
}

impl Contract {
    /// What one of the host's own actions is to do.
    pub(crate) fn asked(
        &self,
        own: Own,
        trace: bool,
        mut params: Object,
        view: &View,
    ) -> Result<Target, Failure> {
        let Asked { action, rules } = Asked::of(own);
        self.without_foreign_nulls(rules, &mut params, view);
        // Parameters of a batch's calls may be secrets; which, is known when the calls are.
        let discreet = own == Own::Batch && self.has_secrets();
        let params = ready(action, rules, params, |value| {
            let mut failure = self.explain(action, rules, value, (discreet, view));
            failure.expected = Some(rules.signature.clone());
            failure.example = Some(self.asked_example(own, view));
            failure.hint = failure.hint.or_else(|| advice(own));
            failure
        })?
        .params;
        Ok(target(own, trace, params))
    }

    /// Arguments of one valid call of a host's action.
    pub(crate) fn asked_example(&self, own: Own, view: &View) -> Value {
        let mut known = self.surface().actions.iter().zip(self.rules()).enumerate();
        let first = known.find(|(index, _)| view.shows(*index)).map(|(_, first)| first);
        let params = match (own, first) {
            (Own::Describe, Some((action, _))) => json!({"of": action.name}),
            (Own::Batch, Some((action, rules))) => {
                let item = rules.example(action).cloned();
                json!({"items": [item.unwrap_or_else(|| call(&action.name, &Object::new()))]})
            }
            (Own::RunStatus | Own::RunCancel, _) => json!({"run_id": "run_4Zc1mT0yQ2a7Kx9vB3n5Lw"}),
            _ => json!({}),
        };
        params.as_object().map_or(Value::Null, |params| call(own.name(), params))
    }
}

/// What is said of every wrong call.
fn advice(own: Own) -> Option<String> {
    (own == Own::Describe).then(|| "Name the action in `of`.".to_owned())
}

/// From parameters that are valid.
fn target(own: Own, trace: bool, mut params: Object) -> Target {
    let mut text = |name: &str| match params.shift_remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    match own {
        Own::Describe => Target::Describe { of: text("of") },
        Own::RunStatus => Target::RunStatus {
            run_id: text("run_id"),
            include_trace: params.get("include_trace").and_then(Value::as_bool).unwrap_or(trace),
        },
        Own::RunCancel => Target::RunCancel { run_id: text("run_id").unwrap_or_default() },
        Own::Batch => {
            let mode = match text("mode").as_deref() {
                Some("continue") => Mode::Continue,
                _ => Mode::Stop,
            };
            let items = match params.shift_remove("items") {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            };
            let object = |item| match item {
                Value::Object(item) => Some(item),
                _ => None,
            };
            Target::Batch { items: items.into_iter().filter_map(object).collect(), mode }
        }
    }
}

/// A boolean, or its word.
pub(crate) fn flag(
    name: &str,
    value: Option<&Value>,
    got: impl Fn(&Value) -> String,
) -> Result<Option<bool>, Failure> {
    match value {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(Value::String(word)) if word.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(Value::String(word)) if word.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(other) => {
            let message = format!("`{name}` must be true or false{}", got(other));
            Err(Failure::new(code::INVALID_PARAMS, message))
        }
    }
}

#[cfg(test)]
mod tests;
