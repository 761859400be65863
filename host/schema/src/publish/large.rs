//! The form of a facade with more actions than a list shows: its groups, and how to find actions.
//!
//! A tool in this form takes at most 1,500 tokens, however many actions it has: the description is limited in bytes, and
//! no property names actions.

use std::fmt::Write as _;

use loggia_facade::Object;
use serde_json::json;

use crate::{
    contract::groups::ActionGroup,
    model::{limits, sanitise::sanitise_line, shape::ShapeMember},
    publish::{
        brief_schema::open_object, flat::root_schema, host_parameters, parameters::property_schema,
        part::ToolPart, tool::PublishedTool,
    },
    text::show,
};

/// Publishes a part of a facade in this form.
pub(crate) fn publish(part: &ToolPart<'_>) -> PublishedTool {
    let hosts: Vec<&str> = part.host_actions.iter().map(|host_action| host_action.name()).collect();
    let default = part.default_action.map_or(String::new(), |name| format!(" Default {name}."));
    let action = format!("The name of an action, or one of the host's: {}.{default}", hosts.join(", "));
    let params =
        "As `describe` with `of` shows them. Those of `describe`: query, group, of (an action), cursor.";
    let mut properties = Object::new();
    properties.insert("action".into(), json!({"type": "string", "description": action}));
    properties.insert("params".into(), open_object(params.to_owned()));
    for member in added_parameters(part) {
        properties.insert(member.name.clone(), property_schema(&member));
    }
    PublishedTool::from_part(part, description(part), root_schema(part, properties, false))
}

/// The parameters that the host adds to any of the actions, each once. Unlike in other forms, their descriptions do not
/// name the actions.
fn added_parameters(part: &ToolPart<'_>) -> Vec<ShapeMember> {
    let mut out: Vec<ShapeMember> = Vec::new();
    let of_actions =
        part.actions.iter().flat_map(|(_, action)| host_parameters::for_action(part.contract, action));
    let of_host = part.host_actions.iter().flat_map(|own| host_parameters::beside_host_action(*own));
    for member in of_actions.chain(of_host) {
        if !out.iter().any(|known| known.name == member.name) {
            out.push(member);
        }
    }
    out
}

/// The summary, how to find actions, and as many groups as fit. Clients count UTF-16 units, but tokens follow bytes.
fn description(part: &ToolPart<'_>) -> String {
    let mut text = sanitise_line(&part.contract.surface().summary, usize::MAX);
    let _ = write!(
        text,
        "\n{} actions. Find them by `describe` with `query`; `describe` with `of` explains one.",
        part.actions.len()
    );
    let groups = part.contract.groups(&part.view);
    let (heading, items): (_, Vec<String>) = match groups.as_slice() {
        [ActionGroup { name: None, actions }] => {
            ("Such as", actions.iter().map(|action| action.name.clone()).collect())
        }
        groups => {
            let item = |group: &ActionGroup<'_>| {
                let name = group.name.map_or_else(|| "without a group".to_owned(), show::name);
                format!("{name} ({})", group.actions.len())
            };
            ("Groups", groups.iter().map(item).collect())
        }
    };
    append_items(&mut text, heading, &items);
    text
}

/// Appends a line with as many items as fit, and the number of the others.
fn append_items(text: &mut String, heading: &str, items: &[String]) {
    /// Bytes of `, and 2,048 more.`
    const MORE: usize = 20;
    let mut line = format!("\n{heading}: ");
    let mut shown = 0;
    for item in items {
        if text.len() + line.len() + item.len() + MORE > limits::DESCRIPTION {
            break;
        }
        let comma = if shown > 0 { ", " } else { "" };
        let _ = write!(line, "{comma}{item}");
        shown += 1;
    }
    if shown == 0 {
        return;
    }
    match items.len() - shown {
        0 => line.push('.'),
        more => {
            let _ = write!(line, ", and {more} more.");
        }
    }
    text.push_str(&line);
}
