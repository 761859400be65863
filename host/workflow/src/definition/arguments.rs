//! Calls of actions with their arguments, in which templates may stand at any depth.

use serde_json::{Map, Value as Json};

use super::{
    Argument, ToolCall,
    place::{Fields, Place, Reading, join, shown},
    uses::{At, template},
};
use crate::{Problem, yaml::YamlValue};

/// Reads `tool` and `arguments`. `missing`: what is said where there is no tool.
pub(super) fn call(fields: &Fields<'_>, at: &At, missing: &str, reading: &mut Reading) -> ToolCall {
    let place = fields.get("tool");
    let line = place.as_ref().map_or(fields.line, |place| place.node.line);
    let tool = match place.map(|place| (place.text(reading), place)) {
        None | Some((Some(""), _)) => {
            reading.problem(fields.missing("tool", missing));
            String::new()
        }
        Some((None, _)) => String::new(),
        Some((Some(tool), place)) => {
            if !is_tool(tool) {
                let problem = place.problem("must be a valid tool name");
                reading.problem(problem.hint("write facade.action, of letters, digits, `.`, `_` and `-`"));
            }
            tool.to_owned()
        }
    };
    ToolCall { tool, arguments: arguments(fields, at, reading), line }
}

fn arguments(fields: &Fields<'_>, at: &At, reading: &mut Reading) -> Vec<(String, Argument)> {
    let Some(place) = fields.get("arguments") else { return Vec::new() };
    let Some(entries) = place.entries(reading) else { return Vec::new() };
    let arguments = entries.iter().filter_map(|entry| {
        let place = Place::new(&entry.node, format!("{}[{}]", place.path, shown(&entry.key)));
        literal_name(&entry.key, entry.line, &place.path, reading);
        Some((entry.key.clone(), argument(&place, at, reading)?))
    });
    arguments.collect()
}

/// `^[a-zA-Z0-9][a-zA-Z0-9._-]*$`
fn is_tool(tool: &str) -> bool {
    tool.starts_with(|c: char| c.is_ascii_alphanumeric())
        && tool.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// An argument; none if there is something wrong with it. Its depth is the file's, which is bounded.
fn argument(place: &Place<'_>, at: &At, reading: &mut Reading) -> Option<Argument> {
    Some(match &place.node.value {
        YamlValue::Text(text) if text.contains("{{") => {
            Argument::Template(template(place, at.clone(), reading)?)
        }
        YamlValue::Text(_) | YamlValue::Plain(..) | YamlValue::Unreal(_) => {
            Argument::Literal(place.json(reading)?)
        }
        YamlValue::List(nodes) => {
            let items = nodes.iter().enumerate().filter_map(|(n, node)| {
                argument(&Place::new(node, format!("{}[{n}]", place.path)), at, reading)
            });
            list(items.collect())
        }
        YamlValue::Map(entries) => {
            let members = entries.iter().filter_map(|entry| {
                let place = Place::new(&entry.node, join(&place.path, &shown(&entry.key)));
                literal_name(&entry.key, entry.line, &place.path, reading);
                Some((entry.key.clone(), argument(&place, at, reading)?))
            });
            record(members.collect())
        }
    })
}

fn list(items: Vec<Argument>) -> Argument {
    let literal = |item: &Argument| match item {
        Argument::Literal(value) => Some(value.clone()),
        _ => None,
    };
    match items.iter().all(|item| matches!(item, Argument::Literal(_))) {
        true => Argument::Literal(Json::Array(items.iter().filter_map(literal).collect())),
        false => Argument::List(items),
    }
}

fn record(members: Vec<(String, Argument)>) -> Argument {
    if !members.iter().all(|(_, member)| matches!(member, Argument::Literal(_))) {
        return Argument::Record(members);
    }
    let literals = members.into_iter().filter_map(|(name, member)| match member {
        Argument::Literal(value) => Some((name, value)),
        _ => None,
    });
    Argument::Literal(Json::Object(literals.collect::<Map<_, _>>()))
}

fn literal_name(name: &str, line: usize, path: &str, reading: &mut Reading) {
    if name.contains("{{") {
        let said = format!("{path}: a template in a name is not expanded");
        reading.warn(Problem::new(line, path, said).hint("only values are"));
    }
}
