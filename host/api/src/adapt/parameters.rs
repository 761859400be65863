//! The parameters of an action: those of path, query, headers and body in one flat object.

use loggia_facade::Object;
use serde_json::{Value, json};

use super::{
    reserved::{WRAPPER_TEXT, WRAPPERS, is_allowed},
    route::{BindingTarget, CURSOR, ParameterBinding},
};
use crate::description::{ApiBody, ApiOperation, BodyForm, ParameterPlace};

/// Parameters of an action, at most; with more, the body stays in one piece.
const FLAT: usize = 60;

/// What the parameter `cursor` is.
const CURSOR_TEXT: &str =
    "`cursor` of the last response, to get the next page. Repeat the other parameters as they were.";

/// The parameters of an action.
pub(super) struct FlatParameters {
    pub(super) schema: Object,
    pub(super) bindings: Vec<ParameterBinding>,
    pub(super) wrapper: Option<&'static str>,
    pub(super) has_cursor: bool,
}

/// One parameter before it has a name.
struct Candidate<'a> {
    name: &'a str,
    /// `path`, `query`, `header`, `cookie` or `body`.
    place: &'static str,
    schema: &'a Value,
    required: bool,
    target: BindingTarget,
}

/// Flattens the parameters of an operation.
pub(super) fn flatten(operation: &ApiOperation) -> FlatParameters {
    let mut candidates: Vec<Candidate<'_>> = operation
        .parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| Candidate {
            name: &parameter.name,
            place: parameter.place.as_str(),
            schema: &parameter.schema,
            required: parameter.required,
            target: BindingTarget::Parameter(index),
        })
        .collect();
    // The names of a path are in every URL that a reader knows; they stay as they are.
    candidates.sort_by_key(|candidate| candidate.place != ParameterPlace::Path.as_str());
    let fields = operation.body.as_ref().and_then(|body| fields(body, candidates.len()));
    match (&operation.body, &fields) {
        (Some(body), Some(fields)) => candidates.extend(fields.iter().map(|(name, schema)| Candidate {
            name,
            place: "body",
            schema,
            required: body.required && is_required(&body.schema, name),
            target: BindingTarget::Field((*name).clone()),
        })),
        (Some(body), None) => candidates.push(Candidate {
            name: "body",
            place: "body",
            schema: &body.schema,
            required: body.required,
            target: BindingTarget::Body,
        }),
        (None, _) => {}
    }
    let wrapper = WRAPPERS.into_iter().find(|name| !candidates.iter().any(|c| c.name == *name));
    let mut flat = assemble(&candidates, wrapper);
    if let (Some(body), Some(_)) = (&operation.body, &fields)
        && body.required
        && candidates.iter().all(|c| c.place != "body" || flat.is_unchanged(c))
    {
        // "One of these" between members of the body.
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = body.schema.get(keyword) {
                flat.schema.insert(keyword.into(), branches.clone());
            }
        }
    }
    if operation.paging.is_some() && !candidates.iter().any(|c| c.name == CURSOR) {
        flat.has_cursor = true;
        let properties = flat.schema.get_mut("properties").and_then(Value::as_object_mut);
        if let Some(properties) = properties {
            properties.insert(CURSOR.into(), json!({"type": "string", "description": CURSOR_TEXT}));
        }
    }
    flat
}

impl FlatParameters {
    fn is_unchanged(&self, candidate: &Candidate<'_>) -> bool {
        self.bindings.iter().any(|binding| {
            binding.target == candidate.target && binding.name == candidate.name && !binding.is_wrapped
        })
    }
}

/// The members of a body that become parameters of their own; none if the body stays in one piece.
fn fields(body: &ApiBody, others: usize) -> Option<Vec<(&String, &Value)>> {
    if matches!(body.form, BodyForm::Text | BodyForm::Binary) {
        return None;
    }
    let schema = body.schema.as_object()?;
    let properties = schema.get("properties")?.as_object().filter(|properties| !properties.is_empty())?;
    let is_object = match schema.get("type") {
        None => true,
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().all(|kind| kind == "object" || kind == "null"),
        _ => false,
    };
    let is_plain = schema.iter().all(|(keyword, value)| match keyword.as_str() {
        "type" | "properties" | "required" | "description" | "deprecated" | "default" | "examples" => true,
        "additionalProperties" => *value == json!(false),
        "anyOf" | "oneOf" => value.as_array().is_some_and(|branches| branches.iter().all(is_requirement)),
        _ => false,
    });
    (is_object && is_plain && properties.len() + others <= FLAT).then(|| properties.iter().collect())
}

/// Whether a branch only names required members.
fn is_requirement(branch: &Value) -> bool {
    branch.as_object().is_some_and(|branch| {
        branch.contains_key("required")
            && branch.keys().all(|key| matches!(key.as_str(), "required" | "description"))
    })
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|known| known == name))
}

/// Gives every candidate a name and builds the schema.
fn assemble(candidates: &[Candidate<'_>], wrapper: Option<&'static str>) -> FlatParameters {
    let (mut outer, mut inner) = (Object::new(), Object::new());
    let (mut outer_required, mut inner_required) = (Vec::new(), Vec::new());
    let mut bindings = Vec::new();
    for candidate in candidates {
        let is_wrapped = !is_allowed(candidate.name);
        if is_wrapped && wrapper.is_none() {
            continue;
        }
        let (properties, required) =
            if is_wrapped { (&mut inner, &mut inner_required) } else { (&mut outer, &mut outer_required) };
        let name = unique(candidate, |name| properties.contains_key(name));
        let mut schema = candidate.schema.clone();
        if name != candidate.name
            && let Value::Object(members) = &mut schema
        {
            let text = members.get("description").and_then(Value::as_str).unwrap_or_default();
            let text = format!("{text} (`{}` of the {})", candidate.name, candidate.place);
            members.insert("description".into(), text.trim().into());
        }
        properties.insert(name.clone(), schema);
        if candidate.required {
            required.push(Value::String(name.clone()));
        }
        bindings.push(ParameterBinding { name, is_wrapped, target: candidate.target.clone() });
    }
    let used = wrapper.filter(|_| !inner.is_empty());
    if let Some(wrapper) = used {
        let mut schema = Object::from_iter([
            ("type".to_owned(), json!("object")),
            ("description".to_owned(), json!(WRAPPER_TEXT)),
            ("properties".to_owned(), Value::Object(inner)),
            ("additionalProperties".to_owned(), json!(false)),
        ]);
        if !inner_required.is_empty() {
            schema.insert("required".into(), Value::Array(inner_required));
            outer_required.push(wrapper.into());
        }
        outer.insert(wrapper.into(), Value::Object(schema));
    }
    let mut schema = Object::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(outer)),
    ]);
    if !outer_required.is_empty() {
        schema.insert("required".into(), Value::Array(outer_required));
    }
    FlatParameters { schema, bindings, wrapper: used, has_cursor: false }
}

/// The candidate's name or, if that is taken, one that tells its place.
fn unique(candidate: &Candidate<'_>, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(candidate.name) {
        return candidate.name.to_owned();
    }
    let most = 64 - "_header_99".len();
    let base = candidate.name.get(..most.min(candidate.name.len())).unwrap_or("parameter");
    let placed = format!("{base}_{}", candidate.place);
    let numbered = (2..).map(|number| format!("{placed}_{number}"));
    std::iter::once(placed.clone()).chain(numbered).find(|name| !is_taken(name)).unwrap_or(placed)
}
