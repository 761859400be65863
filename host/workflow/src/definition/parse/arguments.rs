//! Parser of calls. Arguments may contain templates at any depth.

use serde_json::{Map, Value as Json};

use super::template::parse_template;
use crate::{
    FileProblem,
    definition::{
        model::{ArgumentValue, ToolCall},
        place::{NodePlace, ObjectFields, join},
        report::ParseReport,
        template_use::TemplateSite,
    },
    yaml::{YamlValue, excerpt},
};

/// Parses `tool` and `arguments`. `missing`: the message for a missing tool.
pub(crate) fn parse_call(
    fields: &ObjectFields<'_>,
    at: &TemplateSite,
    missing: &str,
    report: &mut ParseReport,
) -> ToolCall {
    let place = fields.get("tool");
    let line = place.as_ref().map_or(fields.line, |place| place.node.line);
    let tool = match place.map(|place| (place.text(report), place)) {
        None | Some((Some(""), _)) => {
            report.problem(fields.missing("tool", missing));
            String::new()
        }
        Some((None, _)) => String::new(),
        Some((Some(tool), place)) => {
            if !is_tool_name(tool) {
                let problem = place.problem("must be a valid tool name");
                report.problem(
                    problem.hint("write facade.action; letters, digits, `.`, `_` and `-` are allowed"),
                );
            }
            tool.to_owned()
        }
    };
    ToolCall { tool, arguments: parse_arguments(fields, at, report), line }
}

fn parse_arguments(
    fields: &ObjectFields<'_>,
    at: &TemplateSite,
    report: &mut ParseReport,
) -> Vec<(String, ArgumentValue)> {
    let Some(place) = fields.get("arguments") else { return Vec::new() };
    let Some(entries) = place.entries(report) else { return Vec::new() };
    let arguments = entries.iter().filter_map(|entry| {
        let place = NodePlace::new(&entry.node, format!("{}[{}]", place.path, excerpt(&entry.key)));
        warn_template_in_name(&entry.key, entry.line, &place.path, report);
        Some((entry.key.clone(), parse_argument(&place, at, report)?))
    });
    arguments.collect()
}

/// `^[a-zA-Z0-9][a-zA-Z0-9._-]*$`
fn is_tool_name(tool: &str) -> bool {
    tool.starts_with(|c: char| c.is_ascii_alphanumeric())
        && tool.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// Parses an argument; returns `None` after reporting a problem. The file's depth limit bounds the recursion.
fn parse_argument(
    place: &NodePlace<'_>,
    at: &TemplateSite,
    report: &mut ParseReport,
) -> Option<ArgumentValue> {
    Some(match &place.node.value {
        YamlValue::Text(text) if text.contains("{{") => {
            ArgumentValue::Template(parse_template(place, at.clone(), report)?)
        }
        YamlValue::Text(_) | YamlValue::Plain(..) | YamlValue::Unreal(_) => {
            ArgumentValue::Literal(place.json(report)?)
        }
        YamlValue::List(nodes) => {
            let items = nodes.iter().enumerate().filter_map(|(n, node)| {
                parse_argument(&NodePlace::new(node, format!("{}[{n}]", place.path)), at, report)
            });
            fold_list(items.collect())
        }
        YamlValue::Map(entries) => {
            let members = entries.iter().filter_map(|entry| {
                let place = NodePlace::new(&entry.node, join(&place.path, &excerpt(&entry.key)));
                warn_template_in_name(&entry.key, entry.line, &place.path, report);
                Some((entry.key.clone(), parse_argument(&place, at, report)?))
            });
            fold_record(members.collect())
        }
    })
}

fn fold_list(items: Vec<ArgumentValue>) -> ArgumentValue {
    let literal = |item: &ArgumentValue| match item {
        ArgumentValue::Literal(value) => Some(value.clone()),
        _ => None,
    };
    match items.iter().all(|item| matches!(item, ArgumentValue::Literal(_))) {
        true => ArgumentValue::Literal(Json::Array(items.iter().filter_map(literal).collect())),
        false => ArgumentValue::List(items),
    }
}

fn fold_record(members: Vec<(String, ArgumentValue)>) -> ArgumentValue {
    if !members.iter().all(|(_, member)| matches!(member, ArgumentValue::Literal(_))) {
        return ArgumentValue::Record(members);
    }
    let literals = members.into_iter().filter_map(|(name, member)| match member {
        ArgumentValue::Literal(value) => Some((name, value)),
        _ => None,
    });
    ArgumentValue::Literal(Json::Object(literals.collect::<Map<_, _>>()))
}

fn warn_template_in_name(name: &str, line: usize, path: &str, report: &mut ParseReport) {
    if name.contains("{{") {
        let message = format!("{path}: templates in names are not expanded");
        report.warn(FileProblem::new(line, path, message).hint("templates work only in values"));
    }
}
