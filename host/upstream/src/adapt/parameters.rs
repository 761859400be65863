//! The strictest form of an input schema that the contract accepts.
//!
//! An upstream's schema is never a reason to leave out its tool: what the contract refuses is loosened, one parameter at a
//! time, since the upstream checks its arguments itself. The contract is the judge, so that its rules are in one place.

use std::sync::Arc;

use loggia_facade::{Action, Effect, Object, Surface};
use loggia_schema::{Contract, SurfaceLimits};
use loggia_text::sanitise_text;
use serde_json::{Value, json};

use super::{inline::inline, reserved::move_reserved};

/// The schema of an action's parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ActionParameters {
    pub(super) schema: Object,
    /// The parameter that holds those whose names cannot be used.
    pub(super) wrapper: Option<String>,
    /// What was lost, for the log.
    pub(super) loosened: Vec<String>,
}

/// Bytes of a description of a parameter that could not be kept otherwise.
const DESCRIPTION: usize = 400;

/// Adapts an input schema.
pub(super) fn adapt_parameters(input: &Object) -> ActionParameters {
    let rooted = |schema: Object| -> Object {
        let mut out = Object::from_iter([("type".to_owned(), json!("object"))]);
        // A schema that defines no parameters allows any; one with an empty list of them allows none.
        if !schema.contains_key("properties") && !schema.contains_key("additionalProperties") {
            out.insert("additionalProperties".into(), json!(true));
        }
        out.extend(schema.into_iter().filter(|(keyword, _)| keyword != "type"));
        out
    };
    let candidates = [inline(input), Some(input.clone())];
    let candidates: Vec<Object> = candidates.into_iter().flatten().map(rooted).collect();
    if let Some(schema) = candidates.iter().find(|schema| is_accepted(schema)) {
        return ActionParameters { schema: schema.clone(), wrapper: None, loosened: Vec::new() };
    }
    // The first is the inlined one, if there is one.
    let schema = candidates.into_iter().next().unwrap_or_default();
    let (schema, wrapper) = match move_reserved(&schema, is_allowed_name) {
        Some((schema, wrapper)) => (schema, Some(wrapper)),
        None => (schema, None),
    };
    if is_accepted(&schema) {
        return ActionParameters { schema, wrapper, loosened: Vec::new() };
    }
    loosen(schema, wrapper)
}

/// Loosens single parameters, then their relations, then everything.
fn loosen(mut schema: Object, wrapper: Option<String>) -> ActionParameters {
    let mut loosened = Vec::new();
    if let Some(Value::Object(properties)) = schema.get_mut("properties")
        && properties.len() <= SurfaceLimits::HOSTED.parameters
    {
        for (name, property) in properties.iter_mut() {
            if !is_accepted(&with_one(name, property)) {
                *property = loose_property(property);
                loosened.push(format!("the schema of its parameter `{}`", loggia_text::mention(name, 64)));
            }
        }
    }
    if is_accepted(&schema) {
        return ActionParameters { schema, wrapper, loosened };
    }
    let before = schema.len();
    schema.retain(|keyword, value| match keyword.as_str() {
        "type" | "properties" | "required" => true,
        "additionalProperties" => value.is_boolean(),
        _ => false,
    });
    if schema.len() < before {
        loosened.push("the conditions between its parameters".into());
    }
    if is_accepted(&schema) {
        return ActionParameters { schema, wrapper, loosened };
    }
    ActionParameters {
        schema: permissive(),
        // The moved parameters may still be sent there.
        wrapper,
        loosened: vec!["the whole schema of its parameters".into()],
    }
}

/// A schema that accepts any parameters.
pub(super) fn permissive() -> Object {
    Object::from_iter([
        ("type".to_owned(), json!("object")),
        ("additionalProperties".to_owned(), json!(true)),
    ])
}

/// Keeps what a reader needs to know of a parameter.
fn loose_property(property: &Value) -> Value {
    let mut out = Object::new();
    if let Some(Value::String(kind)) = property.get("type")
        && matches!(kind.as_str(), "string" | "number" | "integer" | "boolean" | "array" | "object")
    {
        out.insert("type".into(), kind.clone().into());
    }
    if let Some(Value::String(text)) = property.get("description") {
        out.insert("description".into(), sanitise_text(text, DESCRIPTION).into());
    }
    Value::Object(out)
}

fn with_one(name: &str, property: &Value) -> Object {
    let properties = Object::from_iter([(name.to_owned(), property.clone())]);
    Object::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties)),
    ])
}

fn is_allowed_name(name: &str) -> bool {
    is_accepted(&with_one(name, &json!({})))
}

/// Whether the contract accepts these parameters.
pub(super) fn is_accepted(params: &Object) -> bool {
    let surface = Surface {
        name: "upstream".into(),
        title: String::new(),
        version: String::new(),
        summary: "An upstream.".into(),
        instructions: None,
        default_action: None,
        actions: vec![Action {
            name: "action".into(),
            summary: "A tool.".into(),
            needs: Vec::new(),
            group: None,
            resource: None,
            view: None,
            effect: Effect::Write,
            idempotent: false,
            open_world: true,
            long_running: false,
            details: false,
            aliases: Vec::new(),
            params: Arc::new(params.clone()),
            data: None,
            examples: Vec::new(),
        }],
        views: Vec::new(),
        wants: Vec::new(),
    };
    Contract::within(Arc::new(surface), &SurfaceLimits::HOSTED).is_ok()
}
