//! The forms with separate parameters, `{action, params}`: `signatures` lists the parameters of each action, `names` omits
//! them, and `union` has one schema per action.
//!
//! Of the host's parameters, `confirm` and `login_code` are beside `params`; `union` has all of them there.

use std::collections::HashMap;

use loggia_facade::Object;
use serde_json::{Value, json};

use crate::{
    model::{
        host_action::{HostAction, LOGIN_CODE},
        shape::{ShapeMember, ValueShape},
        signature::{BriefSignatures, optional_parameter, parameter_key},
    },
    publish::{
        brief_schema::open_object,
        description::{ToolDescription, summaries, utf16_len, warning},
        flat::{action_property, add_host_parameters, root_schema},
        granular::object_schema,
        host_parameters,
        parameters::ParameterTable,
        part::ToolPart,
        tool::PublishedTool,
    },
};

/// Begins the list of parameters that every action accepts.
const EVERY_ACTION: &str = "also ";
/// Between signatures. In JSON, as which models are often given tools, a new line takes two tokens.
const SEPARATOR: &str = "; ";
/// UTF-16 units of a description that every client shows.
const SHOWN: usize = 1024;

/// Publishes all parameters in the fewest tokens: one TypeScript-like signature per action, or for several with the same
/// parameters. Summaries are left to `describe`. Of the host's parameters, only `confirm` and `login_code` need a
/// description of their own; the others are at the end, because every action accepts them.
pub(crate) fn signatures(part: &ToolPart<'_>) -> PublishedTool {
    let mut signatures = BriefSignatures::default();
    let mut entries: Vec<String> = alike(part)
        .iter()
        .map(|actions| format!("{}{}", actions.warning, signatures.render(&actions.names, actions.shape)))
        .collect();
    // The server's instructions explain `describe`.
    for host_action in part.host_actions.iter().filter(|action| **action != HostAction::Describe) {
        let members = host_parameters::for_host_action(*host_action).into_iter();
        // `describe` explains the optional ones of runs, which few calls need.
        let members = members.filter(|member| member.name != "include_trace");
        entries.push(signatures.render(&[host_action.name()], &record(members.collect())));
    }
    let mut added = ParameterTable::default();
    add_host_parameters(part, &mut added, |member| !is_beside_params(member));
    let added: Vec<String> = added.shapes().map(|(name, shape)| optional_parameter(name, shape)).collect();
    if !added.is_empty() {
        entries.push(format!("{EVERY_ACTION}{}", added.join(", ")));
    }
    let ToolDescription { text: description, spilled } = ToolDescription::separated(part, SEPARATOR, entries);
    // The signatures name the actions, where clients show all of them.
    let action = if spilled.is_empty() && utf16_len(&description) <= SHOWN {
        json!({"type": "string"})
    } else {
        action_property(part, &[])
    };
    let params = open_object(spilled.join(SEPARATOR));
    publish(part, description, action, params, is_beside_params)
}

/// Actions with the same parameters and the same warning.
struct AlikeActions<'a> {
    warning: &'static str,
    names: Vec<&'a str>,
    shape: &'a ValueShape,
}

/// The actions by their parameters, each at the place of the first of its kind.
fn alike<'a>(part: &'a ToolPart<'_>) -> Vec<AlikeActions<'a>> {
    let mut places = HashMap::new();
    let mut out: Vec<AlikeActions<'a>> = Vec::new();
    for (action, rules) in part.with_rules() {
        let warning = warning(action);
        let at = *places.entry((warning, parameter_key(&rules.shape))).or_insert(out.len());
        match out.get_mut(at) {
            Some(alike) => alike.names.push(&action.name),
            None => out.push(AlikeActions { warning, names: vec![&action.name], shape: &rules.shape }),
        }
    }
    out
}

/// Publishes only the names of the actions.
pub(crate) fn names(part: &ToolPart<'_>) -> PublishedTool {
    let ToolDescription { text: description, .. } = ToolDescription::new(part, []);
    let params = open_object("Ask `describe`, with the action in `of`.".to_owned());
    publish(part, description, action_property(part, &[]), params, is_beside_params)
}

/// Publishes one schema per action.
pub(crate) fn union(part: &ToolPart<'_>) -> PublishedTool {
    let ToolDescription { text: description, spilled } = ToolDescription::new(part, summaries(part));
    let actions = part.with_rules().map(|(action, rules)| branch(&action.name, &rules.shape));
    let host_actions = part.host_actions.iter().map(|host_action| {
        branch(host_action.name(), &record(host_parameters::for_host_action(*host_action)))
    });
    let branches: Vec<Value> = actions.chain(host_actions).collect();
    publish(part, description, action_property(part, &spilled), json!({"anyOf": branches}), |_| true)
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
    let mut others = ParameterTable::default();
    add_host_parameters(part, &mut others, is_beside);
    properties.extend(others.publish());
    PublishedTool::from_part(part, description, root_schema(part, properties, is_open))
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
