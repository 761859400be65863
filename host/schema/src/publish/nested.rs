//! The published forms with the parameters apart: `{action, params}`.
//!
//! `signatures` tells of the parameters in one line for each action, `names` not at all, and `union` in one schema for
//! each action. What the host takes beside parameters (`detail`, `wait`, `confirm`) stands beside `params`.

use loggia_facade::Object;
use serde_json::{Value, json};

use crate::{
    model::{
        shape::{ShapeMember, ValueShape},
        signature::brief,
    },
    publish::{
        description::{ToolDescription, summaries, warning, with_spilled},
        flat::{action_property, add_host_parameters, root_schema},
        granular::object_schema,
        host_parameters,
        parameters::ParameterTable,
        part::ToolPart,
        tool::Published,
    },
};

/// What the action is told to be.
const ACTION_TEXT: &str = "What to do.";

/// Every parameter, in the fewest tokens: one line for each action, as TypeScript would write it. What the actions do
/// is for `describe` to tell, and for their names. Of the host's parameters only `confirm` needs more words than a line.
pub(crate) fn signatures(part: &ToolPart<'_>) -> Published {
    let actions = part.actions.iter().map(|(action, rules)| {
        let (members, others) = match &rules.shape {
            ValueShape::Record { members, others } => (members.clone(), others.clone()),
            _ => (Vec::new(), None),
        };
        let added = host_parameters::for_action(part.contract, action)
            .into_iter()
            .filter(|member| !is_beside_params(member));
        let shape = ValueShape::Record { members: members.into_iter().chain(added).collect(), others };
        format!("{}{}", warning(action), brief(&action.name, &shape))
    });
    let own = part.host_actions.iter().map(|own| {
        let members = host_parameters::for_host_action(*own)
            .into_iter()
            .chain(host_parameters::beside_host_action(*own));
        brief(own.name(), &record(members.collect()))
    });
    let ToolDescription { text: description, spilled } = ToolDescription::new(part, actions.chain(own));
    let params = open_object(with_spilled(
        "As in its signature, untyped: string. More by `describe`.".to_owned(),
        &spilled,
    ));
    publish(part, description, action_property(part, ACTION_TEXT, &[]), params, is_beside_params)
}

/// The names of the actions; the rest by `describe`.
pub(crate) fn names(part: &ToolPart<'_>) -> Published {
    let ToolDescription { text: description, .. } = ToolDescription::new(part, []);
    let params = open_object("Ask `describe`, with the action in `of`.".to_owned());
    publish(part, description, action_property(part, ACTION_TEXT, &[]), params, |_| true)
}

/// One schema for each action's parameters.
pub(crate) fn union(part: &ToolPart<'_>) -> Published {
    let ToolDescription { text: description, spilled } = ToolDescription::new(part, summaries(part));
    let actions = part.actions.iter().map(|(action, rules)| branch(&action.name, &rules.shape));
    let own = part
        .host_actions
        .iter()
        .map(|own| branch(own.name(), &record(host_parameters::for_host_action(*own))));
    let branches: Vec<Value> = actions.chain(own).collect();
    publish(
        part,
        description,
        action_property(part, ACTION_TEXT, &spilled),
        json!({"anyOf": branches}),
        |_| true,
    )
}

/// Whether a host's parameter stands beside `params` where all else is in the signatures.
fn is_beside_params(member: &ShapeMember) -> bool {
    member.name == "confirm"
}

fn publish(
    part: &ToolPart<'_>,
    description: String,
    action: Value,
    params: Value,
    is_beside: fn(&ShapeMember) -> bool,
) -> Published {
    let mut properties = Object::new();
    properties.insert("action".into(), action);
    properties.insert("params".into(), params);
    let mut others =
        ParameterTable::new(part.actions.iter().map(|(action, _)| action.name.as_str()).collect());
    add_host_parameters(part, &mut others, is_beside);
    properties.extend(others.publish());
    Published::from_part(part, description, root_schema(part, properties, false))
}

/// An object of which only words tell what is in it. It says that it is open: some clients take one without members for
/// one that must be empty.
fn open_object(description: String) -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": true, "description": description})
}

fn branch(name: &str, shape: &ValueShape) -> Value {
    let mut out = Object::new();
    // First, since it is what tells the branches apart.
    out.insert("description".into(), name.into());
    out.extend(object_schema(shape, Vec::new()));
    out.into()
}

fn record(members: Vec<ShapeMember>) -> ValueShape {
    ValueShape::Record { members, others: None }
}
