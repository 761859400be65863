//! The strictest form of an operation that the contract accepts.
//!
//! The contract is the judge, so that its rules are in one place. It judges at import, once: what is in a description file is
//! accepted at load without a second look.

use std::sync::Arc;

use loggia_facade::{Object, Surface};
use loggia_schema::{Contract, sanitise_surface};
use serde_json::Value;

use crate::{
    adapt::{AdaptedOperation, adapt_operation},
    description::ApiOperation,
};

/// Loosens what the contract refuses, and returns what that was.
///
/// # Errors
///
/// Why the operation cannot be served.
pub(super) fn fit_operation(operation: &mut ApiOperation) -> Result<Option<String>, String> {
    if judge(operation).is_ok() {
        return Ok(None);
    }
    // Examples and formats are refused most often, and matter least.
    for_each_schema(operation, &mut |schema| strip(schema, &["examples", "format"]));
    if judge(operation).is_ok() {
        return Ok(None);
    }
    let mut loosened = Vec::new();
    for index in 0..operation.parameters.len() {
        let mut alone = ApiOperation { parameters: Vec::new(), body: None, ..operation.clone() };
        alone.path = "/".into();
        alone.parameters.push(operation.parameters[index].clone());
        if judge(&alone).is_err() {
            let parameter = &mut operation.parameters[index];
            parameter.schema = loose(&parameter.schema);
            loosened.push(format!("the schema of `{}`", loggia_text::mention(&parameter.name, 64)));
        }
    }
    if judge(operation).is_err()
        && let Some(body) = &operation.body
    {
        let mut body = body.clone();
        loosen_members(operation, &mut body.schema, &mut loosened);
        operation.body = Some(body);
        if judge(operation).is_err() {
            let body = operation.body.as_mut().ok_or("it has no body")?;
            body.schema = loose(&body.schema);
            loosened.push("the schema of its body".into());
        }
    }
    if judge(operation).is_err() && operation.data.take().is_some() {
        loosened.push("the schema of its results".into());
    }
    judge(operation).map_err(|problem| problem.lines().next().unwrap_or_default().to_owned())?;
    Ok((!loosened.is_empty()).then(|| loosened.join(" and ")))
}

/// Loosens single members of a body.
fn loosen_members(operation: &ApiOperation, schema: &mut Value, loosened: &mut Vec<String>) {
    let Some(Value::Object(members)) = schema.get("properties").cloned() else { return };
    for (name, member) in members {
        let mut alone = ApiOperation { parameters: Vec::new(), path: "/".into(), ..operation.clone() };
        if let Some(body) = &mut alone.body {
            let one = Object::from_iter([(name.clone(), member.clone())]);
            body.schema = serde_json::json!({"type": "object", "properties": one});
        }
        if judge(&alone).is_err() {
            schema["properties"][&name] = loose(&member);
            loosened.push(format!("the schema of `{}`", loggia_text::mention(&name, 64)));
        }
    }
}

/// Asks the contract, for this operation alone.
fn judge(operation: &ApiOperation) -> Result<(), String> {
    let AdaptedOperation { action, .. } = adapt_operation(&Arc::new(operation.clone()));
    let surface = sanitise_surface(Surface {
        name: "api".into(),
        title: String::new(),
        version: String::new(),
        summary: "An API.".into(),
        instructions: None,
        default_action: None,
        actions: vec![action],
        views: Vec::new(),
        wants: Vec::new(),
    });
    Contract::new(Arc::new(surface)).map(|_| ()).map_err(|problems| problems.to_string())
}

/// Keeps of a schema what a reader needs to know.
fn loose(schema: &Value) -> Value {
    let mut out = Object::new();
    for keyword in ["type", "description"] {
        if let Some(value) = schema.get(keyword) {
            out.insert(keyword.into(), value.clone());
        }
    }
    Value::Object(out)
}

fn for_each_schema(operation: &mut ApiOperation, change: &mut impl FnMut(&mut Value)) {
    operation.parameters.iter_mut().for_each(|parameter| change(&mut parameter.schema));
    if let Some(body) = &mut operation.body {
        change(&mut body.schema);
    }
}

/// Removes annotations from a schema and its subschemas, but not properties of these names.
fn strip(schema: &mut Value, keywords: &[&str]) {
    match schema {
        Value::Object(members) => {
            members.retain(|keyword, _| !keywords.contains(&keyword.as_str()));
            for (keyword, value) in members.iter_mut() {
                match (keyword.as_str(), value) {
                    ("enum" | "const", _) => {}
                    ("properties", Value::Object(properties)) => {
                        properties.values_mut().for_each(|property| strip(property, keywords));
                    }
                    (_, value) => strip(value, keywords),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| strip(value, keywords)),
        _ => {}
    }
}
