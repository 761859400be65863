//! The forms with separate parameters, `{action, params}`: `signatures` lists the parameters in one line per action,
//! `names` omits them, and `union` has one schema per action.
//!
//! Of the host's parameters, `confirm` and `login_code` are beside `params`; `union` has all of them there.

use loggia_facade::Object;
use serde_json::{Value, json};

use crate::{
    model::{
        host_action::{HostAction, LOGIN_CODE},
        shape::{ShapeMember, ValueShape},
        signature::BriefSignatures,
    },
    publish::{
        description::{ToolDescription, summaries, warning, with_spilled},
        flat::{action_property, add_host_parameters, root_schema},
        granular::object_schema,
        host_parameters,
        parameters::ParameterTable,
        part::ToolPart,
        tool::PublishedTool,
    },
};

/// Description of `action`, whose values say the rest.
const ACTION_TEXT: &str = "";
/// Description of `params` in the `signatures` form. What a missing type means is left to the reader.
const PARAMS_TEXT: &str = "As in its signature.";
/// Publishes all parameters in the fewest tokens: one TypeScript-like line per action. Summaries are left to
/// `describe`. Of the host's parameters, only `confirm` and `login_code` need a description of their own.
pub(crate) fn signatures(part: &ToolPart<'_>) -> PublishedTool {
    let mut signatures = BriefSignatures::default();
    let mut lines = Vec::new();
    for (action, rules) in part.with_rules() {
        let (members, others) = match &rules.shape {
            ValueShape::Record { members, others } => (members.clone(), others.clone()),
            _ => (Vec::new(), None),
        };
        let added = host_parameters::for_action(part.contract, action)
            .into_iter()
            .filter(|member| !is_beside_params(member));
        let shape = ValueShape::Record { members: members.into_iter().chain(added).collect(), others };
        lines.push(format!("{}{}", warning(action), signatures.render(&action.name, &shape)));
    }
    // The server's instructions explain `describe`.
    for host_action in part.host_actions.iter().filter(|action| **action != HostAction::Describe) {
        let members = host_parameters::for_host_action(*host_action).into_iter();
        // `describe` explains the optional ones of runs, which few calls need.
        let members = members.filter(|member| member.name != "include_trace");
        lines.push(signatures.render(host_action.name(), &record(members.collect())));
    }
    let ToolDescription { text: description, spilled } = ToolDescription::new(part, lines);
    let params = open_object(with_spilled(PARAMS_TEXT.to_owned(), &spilled));
    publish(part, description, action_property(part, ACTION_TEXT, &[]), params, is_beside_params)
}

/// Publishes only the names of the actions.
pub(crate) fn names(part: &ToolPart<'_>) -> PublishedTool {
    let ToolDescription { text: description, .. } = ToolDescription::new(part, []);
    let params = open_object("Ask `describe`, with the action in `of`.".to_owned());
    publish(part, description, action_property(part, ACTION_TEXT, &[]), params, is_beside_params)
}

/// Publishes one schema per action.
pub(crate) fn union(part: &ToolPart<'_>) -> PublishedTool {
    let ToolDescription { text: description, spilled } = ToolDescription::new(part, summaries(part));
    let actions = part.with_rules().map(|(action, rules)| branch(&action.name, &rules.shape));
    let host_actions = part.host_actions.iter().map(|host_action| {
        branch(host_action.name(), &record(host_parameters::for_host_action(*host_action)))
    });
    let branches: Vec<Value> = actions.chain(host_actions).collect();
    publish(
        part,
        description,
        action_property(part, ACTION_TEXT, &spilled),
        json!({"anyOf": branches}),
        |_| true,
    )
}

/// Whether a host parameter is beside `params`, because no signature explains it.
fn is_beside_params(member: &ShapeMember) -> bool {
    member.name == "confirm" || member.name == LOGIN_CODE
}

fn publish(
    part: &ToolPart<'_>,
    description: String,
    action: Value,
    params: Value,
    is_beside: fn(&ShapeMember) -> bool,
) -> PublishedTool {
    // Where anything may be in `params`, no client validates strictly.
    let is_open = params.get("additionalProperties") == Some(&Value::Bool(true));
    let mut properties = Object::new();
    properties.insert("action".into(), action);
    properties.insert("params".into(), params);
    let mut others = ParameterTable::new(part.action_names().collect());
    add_host_parameters(part, &mut others, is_beside);
    properties.extend(others.publish());
    PublishedTool::from_part(part, description, root_schema(part, properties, is_open))
}

/// An object whose members only the description names. `additionalProperties` is explicit, because some clients treat
/// an object without members as one that must be empty.
pub(crate) fn open_object(description: String) -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": true, "description": description})
}

fn branch(name: &str, shape: &ValueShape) -> Value {
    let mut out = Object::new();
    // First, because it distinguishes the branches.
    out.insert("description".into(), name.into());
    out.extend(object_schema(shape, Vec::new()));
    out.into()
}

fn record(members: Vec<ShapeMember>) -> ValueShape {
    ValueShape::Record { members, others: None }
}
