//! What a file's workflows publish: a facade of which each workflow is an action.

use std::sync::Arc;

use loggia_facade::{Action, Effect, Object, Surface};
use loggia_schema::limits;
use serde_json::{Value, json};

use crate::{
    Definition, Problem, Workflow,
    bind::{Bound, Peers, bind},
    definition::{Annotations, From, Output, Property, PropertyKind},
};

/// What is published of a file, beside the facades that there are now.
#[derive(Debug)]
pub struct Outlook {
    /// The facade.
    pub surface: Surface,
    /// What keeps its workflows from running now, by the workflow's name.
    pub unavailable: Vec<(String, Vec<Problem>)>,
}

/// The facade of a file, under this name.
pub fn outlook(
    name: &str,
    definition: &Definition,
    workflows: &[Arc<Workflow>],
    peers: &dyn Peers,
) -> Outlook {
    let mut unavailable = Vec::new();
    let actions = workflows.iter().map(|workflow| match bind(workflow, peers) {
        Ok(Bound { effect, open_world, .. }) => action(workflow, effect, open_world),
        Err(problems) => {
            unavailable.push((workflow.name.clone(), problems));
            // What its steps would do nobody knows.
            action(workflow, Effect::Destructive, true)
        }
    });
    let actions: Vec<Action> = actions.collect();
    let title = definition.title.clone().or_else(|| match workflows {
        [only] => only.annotations.title.clone(),
        _ => None,
    });
    let surface = Surface {
        name: name.to_owned(),
        title: title.unwrap_or_else(|| spoken(name)),
        version: "1".to_owned(),
        summary: cut(&summary(definition, workflows), limits::SUMMARY),
        instructions: None,
        default_action: None,
        actions,
        wants: Vec::new(),
    };
    Outlook { surface, unavailable }
}

fn summary(definition: &Definition, workflows: &[Arc<Workflow>]) -> String {
    match (&definition.description, workflows) {
        (Some(said), _) => said.clone(),
        (None, [only]) => only.description.clone(),
        (None, all) => {
            let names: Vec<&str> = all.iter().map(|workflow| workflow.name.as_str()).collect();
            format!("Workflows of several steps: {}.", names.join(", "))
        }
    }
}

fn action(workflow: &Workflow, effect: Effect, open_world: bool) -> Action {
    let Annotations { idempotent, open_world: stated, .. } = workflow.annotations;
    Action {
        name: workflow.name.clone(),
        summary: cut(&workflow.description, limits::ACTION_SUMMARY),
        effect,
        idempotent: idempotent.unwrap_or(false),
        open_world: open_world || stated == Some(true),
        long_running: true,
        details: false,
        aliases: Vec::new(),
        params: Arc::new(workflow.parameters.clone()),
        data: workflow.output.as_ref().map(|output| Arc::new(schema(output))),
        examples: Vec::new(),
    }
}

/// JSON Schema of a workflow's result.
fn schema(output: &Output) -> Value {
    let required = output.required.iter().map(|name| Value::from(name.clone())).collect();
    let mut out = object(&output.properties);
    if !output.required.is_empty() {
        out.insert("required".into(), Value::Array(required));
    }
    out.into()
}

fn object(properties: &[(String, Property)]) -> Object {
    let properties: Object =
        properties.iter().map(|(name, property)| (name.clone(), self::property(property).into())).collect();
    let mut out = Object::new();
    out.insert("type".into(), "object".into());
    out.insert("properties".into(), properties.into());
    out
}

fn property(property: &Property) -> Object {
    let mut out = match &property.from {
        From::Properties(properties) => object(properties),
        From::Value(_) => Object::new(),
    };
    let kind = match property.kind {
        PropertyKind::String => "string",
        PropertyKind::Integer => "integer",
        PropertyKind::Number => "number",
        PropertyKind::Boolean => "boolean",
        PropertyKind::Object => "object",
        PropertyKind::Array => "array",
    };
    out.insert("type".into(), json!(kind));
    out.insert("description".into(), property.description.clone().into());
    out
}

/// A name as people write it: `Incident response` for `incident_response`.
fn spoken(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// As much of a text as a surface may hold.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most - '…'.len_utf8())])
}
