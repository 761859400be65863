//! A surface in JSON. Missing members have minimal defaults.

use std::sync::Arc;

use loggia_facade::{Action, Effect, Object, Surface, Want};
use loggia_schema::ActionPolicy;
use serde_json::Value;

fn text(of: &Value, key: &str) -> Option<String> {
    of.get(key)?.as_str().map(str::to_owned)
}

fn flag(of: &Value, key: &str) -> bool {
    of.get(key).and_then(Value::as_bool).unwrap_or_default()
}

fn list<'a>(of: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    of.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn texts(of: &Value, key: &str) -> Vec<String> {
    list(of, key).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn object(value: &Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

/// Parses the surface.
pub fn surface(of: &Value) -> Surface {
    let want = |want: &Value| Want {
        grant: text(want, "grant").unwrap_or_default(),
        reason: text(want, "reason").unwrap_or_default(),
        needed: flag(want, "needed"),
    };
    Surface {
        name: text(of, "name").unwrap_or_else(|| "any".to_owned()),
        title: text(of, "title").unwrap_or_default(),
        version: text(of, "version").unwrap_or_default(),
        summary: text(of, "summary").unwrap_or_else(|| "Any.".to_owned()),
        instructions: text(of, "instructions"),
        default_action: text(of, "default_action"),
        actions: list(of, "actions").enumerate().map(|(n, of)| action(n, of)).collect(),
        views: Vec::new(),
        wants: list(of, "wants").map(want).collect(),
    }
}

fn action(n: usize, of: &Value) -> Action {
    Action {
        name: text(of, "name").unwrap_or_else(|| format!("a{n}")),
        summary: text(of, "summary").unwrap_or_else(|| "Does it.".to_owned()),
        effect: match of.get("effect").and_then(Value::as_str) {
            Some("write") => Effect::Write,
            Some("destructive") => Effect::Destructive,
            _ => Effect::Read,
        },
        idempotent: flag(of, "idempotent"),
        open_world: flag(of, "open_world"),
        long_running: flag(of, "long_running"),
        details: flag(of, "details"),
        aliases: texts(of, "aliases"),
        needs: texts(of, "needs"),
        group: None,
        resource: None,
        view: None,
        params: Arc::new(of.get("params").map(object).unwrap_or_default()),
        data: of.get("data").cloned().map(Arc::new),
        examples: list(of, "examples").map(object).collect(),
    }
}

/// Parses the additional `terms`.
pub fn terms(of: &Value) -> ActionPolicy {
    let of = &of["terms"];
    ActionPolicy {
        deny: texts(of, "deny"),
        confirm: texts(of, "confirm"),
        batch: flag(of, "batch"),
        record: texts(of, "record"),
        ..ActionPolicy::default()
    }
}
