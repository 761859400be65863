//! Checks names, texts, counts and sizes of a surface, and single schema nodes.

use std::{collections::HashMap, fmt};

use loggia_facade::{Object, Surface};
use serde_json::Value;

use crate::{
    model::nesting::nesting,
    model::{
        host_action::HOST_ACTIONS,
        limits,
        names::is_name,
        resource_checks::{check_resources, check_views},
        sanitise::is_clean,
        surface_limits::SurfaceLimits,
    },
    text::show::{allowed, name as shown},
};

/// All problems of a surface. Each line names the action and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SurfaceProblems(pub Vec<String>);

/// Problems that are reported.
const REPORTED: usize = 64;

impl SurfaceProblems {
    /// Keeps the first 64 problems and counts the rest.
    pub(crate) fn from_list(mut problems: Vec<String>) -> Self {
        let more = problems.len().saturating_sub(REPORTED);
        if more > 0 {
            problems.truncate(REPORTED);
            problems.push(format!("and {more} more"));
        }
        Self(problems)
    }
}

impl fmt::Display for SurfaceProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

/// Host arguments that are accepted beside the parameters of every action.
pub(crate) const RESERVED_NAMES: [&str; 6] = ["action", "cmd", "params", "detail", "wait", "confirm"];

const NAME: &str = "must be 1 to 32 characters of a-z, 0-9, `_` and `-`, and begin with a letter, because clients accept no others";

const ACTION: &str = "must be 1 to 64 characters of a-z, 0-9, `_` and `-`, and begin with a letter or a digit, because clients accept no others";

/// `^[a-z0-9][a-z0-9_-]{0,63}$`: the length of a tool's name, because an action can be a tool of its own.
fn is_action(name: &str) -> bool {
    name.len() <= limits::TOOL_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'))
}

/// `^[a-zA-Z0-9_-]{1,32}$`
fn is_alias(name: &str) -> bool {
    (1..=32).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// `^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`: the keys that all model vendors accept.
fn is_parameter(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Checks names, texts, counts and sizes of a surface. Schemas are only measured; see [`check_node`].
pub(crate) fn check_surface(surface: &Surface, most: &SurfaceLimits) -> Vec<String> {
    let mut out = Vec::new();
    if !is_name(&surface.name) {
        out.push(format!("facade name \"{}\" {NAME}", shown(&surface.name)));
    }
    check_text(&mut out, "the facade's title", &surface.title, limits::TITLE, true);
    check_text(&mut out, "the facade's version", &surface.version, limits::VERSION, true);
    check_text(&mut out, "the facade's summary", &surface.summary, limits::SUMMARY, false);
    if let Some(instructions) = &surface.instructions {
        check_text(&mut out, "the facade's instructions", instructions, limits::INSTRUCTIONS, true);
    }
    check_count(&mut out, "the facade", "actions", surface.actions.len(), most.actions);
    check_count(&mut out, "the facade", "wanted grants", surface.wants.len(), limits::WANTS);
    for want in &surface.wants {
        check_text(&mut out, "a wanted grant", &want.grant, limits::ACTION_SUMMARY, false);
        check_text(&mut out, "a wanted grant's reason", &want.reason, limits::ACTION_SUMMARY, true);
    }
    if surface.actions.is_empty() {
        out.push("the facade has no actions; give it at least one".into());
    }
    check_names(&mut out, surface);
    check_resources(&mut out, surface);
    check_views(&mut out, surface);
    let mut total = surface.summary.len() + surface.instructions.as_ref().map_or(0, String::len);
    for action in &surface.actions {
        let subject = format!("action `{}`", shown(&action.name));
        check_text(
            &mut out,
            &format!("the summary of {subject}"),
            &action.summary,
            limits::ACTION_SUMMARY,
            false,
        );
        check_count(&mut out, &subject, "needed grants", action.needs.len(), limits::WANTS);
        for need in &action.needs {
            check_text(&mut out, &format!("a needed grant of {subject}"), need, limits::ACTION_SUMMARY, true);
        }
        if let Some(group) = &action.group {
            check_text(&mut out, &format!("the group of {subject}"), group, limits::GROUP, false);
            if !is_clean(group) {
                out.push(format!(
                    "the group of {subject} holds control or invisible characters; remove them"
                ));
            }
        }
        check_count(&mut out, &subject, "aliases", action.aliases.len(), limits::ALIASES);
        check_count(&mut out, &subject, "examples", action.examples.len(), limits::EXAMPLES);
        for (what, schema) in
            [("parameters", Some(&*action.params)), ("data", object(action.data.as_deref()))]
        {
            let Some(schema) = schema else { continue };
            if nesting(schema.values()) > limits::NESTING {
                // Parameters that are too deep are reported by the reader of rules.
                if what == "data" {
                    out.push(format!("{subject}: {}", too_deep(what)));
                }
                continue;
            }
            let size = json_bytes(schema);
            total += size;
            if size > most.schema {
                out.push(format!(
                    "{subject}: the schema of its {what} is {size} bytes; at most {} are allowed, so split the action or \
                     shorten descriptions",
                    most.schema
                ));
            }
        }
        total += action.summary.len() + action.examples.iter().map(json_bytes).sum::<usize>();
    }
    if total > most.total {
        out.push(format!(
            "the facade publishes {total} bytes; at most {} are allowed, so split it into several facades",
            most.total
        ));
    }
    out
}

/// The problem of a schema that is too deep to be examined.
pub(crate) fn too_deep(what: &str) -> String {
    format!("the schema of its {what} nests far too deep; flatten it")
}

/// Checks names and aliases of actions: their form, that they are unique, that none is a host action.
fn check_names(out: &mut Vec<String>, surface: &Surface) {
    let mut taken: HashMap<String, usize> = HashMap::new();
    for (index, action) in surface.actions.iter().enumerate() {
        let subject = shown(&action.name);
        if !is_action(&action.name) {
            out.push(format!("action name \"{subject}\" {ACTION}"));
        }
        for (what, name) in
            std::iter::once(("name", &action.name)).chain(action.aliases.iter().map(|alias| ("alias", alias)))
        {
            if what == "alias" && !is_alias(name) {
                out.push(format!(
                    "action `{subject}`: alias \"{}\" must be 1 to 32 characters of a-z, A-Z, 0-9, `_` and `-`",
                    shown(name)
                ));
            }
            let folded = name.to_ascii_lowercase();
            if HOST_ACTIONS.contains(&folded.as_str()) {
                out.push(format!(
                    "action `{subject}`: the {what} `{}` is the host's own; choose another",
                    shown(name)
                ));
            }
            // An alias that repeats its action's own name is harmless.
            let Some(other) = taken.insert(folded, index).filter(|other| *other != index || what == "name")
            else {
                continue;
            };
            let other = shown(&surface.actions[other].name);
            out.push(if what == "name" && other == subject {
                format!("two actions are named `{subject}`; every action needs a name of its own")
            } else {
                format!(
                    "action `{subject}`: the {what} `{}` is also a name of `{other}`; names and aliases must be unique, \
                     regardless of case",
                    shown(name)
                )
            });
        }
    }
    if let Some(default) = &surface.default_action
        && surface.action(default).is_none()
    {
        out.push(format!("the default action `{}` is not one of the facade's actions", shown(default)));
    }
}

/// Checks the root of a resolved parameter schema.
pub(crate) fn check_parameters(schema: &Object, most: usize) -> Vec<String> {
    let mut out = Vec::new();
    if schema.get("type").is_none_or(|kind| kind != "object") {
        out.push("the schema of its parameters must have `\"type\": \"object\"` at its root".to_owned());
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return out };
    if properties.len() > most {
        out.push(format!("has {} parameters; at most {most} are allowed", properties.len()));
    }
    out.extend(properties.keys().filter_map(|name| check_parameter_name(name)));
    out
}

/// Checks the name of a parameter.
pub(crate) fn check_parameter_name(name: &str) -> Option<String> {
    if RESERVED_NAMES.contains(&name) {
        Some(format!("the parameter name `{name}` is the host's own; choose another, for example `{name}_`"))
    } else if !is_parameter(name) {
        Some(format!(
            "the parameter name \"{}\" must be 1 to 64 characters of a-z, A-Z, 0-9, `_`, `-` and `.`, and begin with \
             a letter or `_`",
            shown(name)
        ))
    } else {
        None
    }
}

/// Checks one schema node, without its subschemas.
pub(crate) fn check_node(schema: &Object) -> Vec<String> {
    let mut out = Vec::new();
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("enum", Value::Array(values)) => {
                if values.len() > limits::ENUM {
                    out.push(format!(
                        "`enum` has {} values; at most {} are allowed",
                        values.len(),
                        limits::ENUM
                    ));
                }
                out.extend(
                    values.iter().take(limits::ENUM).filter(|v| !is_clean_value(v)).map(hidden_characters),
                );
            }
            ("pattern", Value::String(pattern)) => check_pattern(&mut out, pattern),
            ("patternProperties", Value::Object(map)) => {
                map.keys().for_each(|pattern| check_pattern(&mut out, pattern));
            }
            ("const" | "default" | "examples", value) if !is_clean_value(value) => {
                out.push(hidden_characters(value))
            }
            ("properties", Value::Object(map)) => {
                out.extend(
                    map.keys()
                        .filter(|name| !is_clean(name))
                        .map(|name| hidden_characters(&name.as_str().into())),
                );
            }
            ("$dynamicRef" | "$recursiveRef" | "$dynamicAnchor" | "$vocabulary", _) => {
                out.push(format!("`{keyword}` is not supported; use `$ref` to `#/$defs/…`"));
            }
            _ => {}
        }
    }
    out
}

fn check_pattern(out: &mut Vec<String>, pattern: &str) {
    if pattern.len() > limits::PATTERN {
        out.push(format!("a pattern is {} bytes; at most {} are allowed", pattern.len(), limits::PATTERN));
    }
}

fn hidden_characters(value: &Value) -> String {
    format!("the value {} holds control or invisible characters; remove them", allowed(value))
}

/// Whether no text in a value has hidden characters.
fn is_clean_value(value: &Value) -> bool {
    match value {
        Value::String(text) => is_clean(text),
        Value::Array(items) => items.iter().all(is_clean_value),
        Value::Object(members) => is_clean_object(members),
        _ => true,
    }
}

/// Whether no name and no text in an object has hidden characters.
pub(crate) fn is_clean_object(members: &Object) -> bool {
    members.iter().all(|(name, value)| is_clean(name) && is_clean_value(value))
}

/// Checks the texts of an example.
pub(crate) fn check_example(example: &Object) -> Option<String> {
    (!is_clean_object(example)).then(|| "holds control or invisible characters; remove them".to_owned())
}

fn check_text(out: &mut Vec<String>, what: &str, text: &str, max: usize, may_be_empty: bool) {
    if text.trim().is_empty() && !may_be_empty {
        out.push(format!("{what} must not be empty; state its purpose in a sentence"));
    }
    if text.len() > max {
        out.push(format!("{what} takes {} bytes; at most {max} are allowed, so shorten it", text.len()));
    }
}

fn check_count(out: &mut Vec<String>, subject: &str, what: &str, count: usize, max: usize) {
    if count > max {
        out.push(format!("{subject} has {count} {what}; at most {max} are allowed"));
    }
}

fn object(value: Option<&Value>) -> Option<&Object> {
    value.and_then(Value::as_object)
}

/// Size as JSON, in bytes.
fn json_bytes(object: &Object) -> usize {
    serde_json::to_string(object).map_or(usize::MAX, |text| text.len())
}
