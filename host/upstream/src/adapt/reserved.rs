//! Parameters whose names an action cannot have.
//!
//! A call's arguments hold the host's own (`action`, `params`, `detail`, …) beside those of the action, and clients accept
//! only plain names. Such parameters move under one object parameter. It is not named `params`: the gate merges the members
//! of `params` with the arguments beside it, so `params: {action: …}` names Loggia's action.

use loggia_facade::Object;
use serde_json::{Value, json};

/// Names for the parameter that holds the moved ones, in order of preference.
const WRAPPERS: [&str; 3] = ["arguments", "tool_arguments", "upstream_arguments"];

/// What a reader sees of the parameter that holds the moved ones.
const DESCRIPTION: &str = "Parameters of the tool whose own names are reserved or not allowed here.";

/// Moves the parameters that cannot have their names under one parameter. Returns the schema and that parameter's name, or
/// `None` if nothing has to be moved, or cannot be.
///
/// Conditions between parameters (`anyOf`, `if`, …) do not survive; the upstream checks them itself.
pub(super) fn move_reserved(schema: &Object, is_allowed: impl Fn(&str) -> bool) -> Option<(Object, String)> {
    let properties = schema.get("properties")?.as_object()?;
    let (kept, moved): (Vec<_>, Vec<_>) = properties.iter().partition(|(name, _)| is_allowed(name));
    if moved.is_empty() {
        return None;
    }
    let wrapper = WRAPPERS.into_iter().find(|name| !properties.contains_key(*name))?;
    let required = |of: &[(&String, &Value)]| -> Vec<Value> {
        let names = schema.get("required").and_then(Value::as_array);
        names
            .into_iter()
            .flatten()
            .filter(|name| of.iter().any(|(known, _)| *name == known.as_str()))
            .cloned()
            .collect()
    };
    let object = |of: &[(&String, &Value)]| -> Object {
        of.iter().map(|(name, schema)| ((*name).clone(), (*schema).clone())).collect()
    };
    let inner_required = required(&moved);
    let mut outer_required = required(&kept);
    let mut inner = Object::from_iter([
        ("type".to_owned(), json!("object")),
        ("description".to_owned(), json!(DESCRIPTION)),
        ("properties".to_owned(), Value::Object(object(&moved))),
        ("additionalProperties".to_owned(), json!(false)),
    ]);
    if !inner_required.is_empty() {
        inner.insert("required".into(), Value::Array(inner_required));
        outer_required.push(wrapper.into());
    }
    let mut properties = object(&kept);
    properties.insert(wrapper.into(), Value::Object(inner));
    let mut out = Object::from_iter([("type".to_owned(), json!("object"))]);
    for keyword in ["title", "description", "additionalProperties"] {
        if let Some(value) = schema.get(keyword) {
            out.insert(keyword.into(), value.clone());
        }
    }
    out.insert("properties".into(), Value::Object(properties));
    if !outer_required.is_empty() {
        out.insert("required".into(), Value::Array(outer_required));
    }
    Some((out, wrapper.to_owned()))
}
