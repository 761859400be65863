//! The `flat` form, the default: one flat object, `action` first, each parameter once.
//!
//! Clients reject or drop most of JSON Schema, and one rejected tool can hide a whole server. So the root has only
//! `type`, `properties`, `required` and `additionalProperties`, properties are plain (see [`ValueShape`]), and
//! everything else is in the descriptions. A description begins with the actions that take the parameter: `[add*,
//! update] The text.`

use loggia_facade::Object;
use serde_json::{Value, json};

use crate::{
    model::shape::{ShapeMember, ValueShape},
    publish::{
        description::{ToolDescription, summaries, with_spilled},
        host_parameters,
        parameters::ParameterTable,
        part::ToolPart,
        tool::PublishedTool,
    },
};

/// Explains the notation of the descriptions.
const LEGEND: &str = "Parameters: [actions], * = required.";

/// Publishes a part of a facade in this form.
pub(crate) fn publish(part: &ToolPart<'_>) -> PublishedTool {
    let ToolDescription { text: description, spilled } = ToolDescription::new(part, summaries(part));
    let parameters = parameters(part);
    let legend = if parameters.name_actions() { LEGEND } else { "What to do." };
    let mut properties = Object::new();
    properties.insert("action".into(), action_property(part, legend, &spilled));
    properties.extend(parameters.publish());
    PublishedTool::from_part(part, description, root_schema(part, properties, is_open(part)))
}

/// The property that selects the action.
pub(crate) fn action_property(part: &ToolPart<'_>, text: &str, spilled: &[String]) -> Value {
    let default = part.default_action.map(|name| format!("Default {name}."));
    let texts: Vec<&str> =
        Some(text).filter(|text| !text.is_empty()).into_iter().chain(default.as_deref()).collect();
    let text = with_spilled(texts.join(" "), spilled);
    let mut property = Object::new();
    property.insert("type".into(), "string".into());
    property.insert("enum".into(), json!(part.names()));
    if !text.is_empty() {
        property.insert("description".into(), text.into());
    }
    property.into()
}

/// The input schema of a tool with an `action` property.
pub(crate) fn root_schema(part: &ToolPart<'_>, properties: Object, is_open: bool) -> Object {
    let mut schema = Object::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if part.default_action.is_none() {
        schema.insert("required".into(), json!(["action"]));
    }
    if !is_open {
        schema.insert("additionalProperties".into(), false.into());
    }
    schema
}

/// Whether any action accepts parameters that its schema does not name.
fn is_open(part: &ToolPart<'_>) -> bool {
    let open = |shape: &ValueShape| matches!(shape, ValueShape::Record { others: Some(_), .. });
    part.with_rules().any(|(_, rules)| open(&rules.shape))
}

fn parameters<'a>(part: &ToolPart<'a>) -> ParameterTable<'a> {
    let mut out = ParameterTable::new(part.action_names().collect());
    for (action, rules) in part.with_rules() {
        out.add(&action.name, rules.parameters().iter().cloned());
    }
    add_host_parameters(part, &mut out, |_| true);
    for host_action in &part.host_actions {
        out.add(host_action.name(), host_parameters::for_host_action(*host_action));
    }
    out
}

/// Adds those of the host's parameters that satisfy a predicate.
pub(crate) fn add_host_parameters<'a>(
    part: &ToolPart<'a>,
    out: &mut ParameterTable<'a>,
    of_these: fn(&ShapeMember) -> bool,
) {
    for (_, action) in &part.actions {
        out.add(
            &action.name,
            host_parameters::for_action(part.contract, action).into_iter().filter(of_these),
        );
    }
    for host_action in &part.host_actions {
        out.add(
            host_action.name(),
            host_parameters::beside_host_action(*host_action).into_iter().filter(of_these),
        );
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loggia_facade::Surface;

    use super::*;
    use crate::{contract::build::Contract, model::limits, publish::expose::ExposeOptions, tests::fixture};

    fn check(name: &str, surface: Surface) -> Arc<Object> {
        let contract = Contract::new(Arc::new(surface.clone())).unwrap();
        let published = contract.publish(&ExposeOptions::default())[0].clone();
        let text = format!(
            "{}\n---\n{}",
            published.description,
            serde_json::to_string_pretty(&*published.input_schema).unwrap()
        );
        insta::assert_snapshot!(name, text);
        let again = Contract::from_checked(Arc::new(surface)).unwrap();
        assert_eq!(published.description, again.publish(&ExposeOptions::default())[0].description);
        let bytes = |schema: &Object| serde_json::to_string(schema).unwrap();
        assert_eq!(
            bytes(&published.input_schema),
            bytes(&again.publish(&ExposeOptions::default())[0].input_schema),
            "byte for byte"
        );
        published.input_schema.clone()
    }

    #[test]
    fn a_small_facade() {
        let schema = check("flat_notes", fixture::notes());
        assert_eq!(schema["properties"].as_object().unwrap().keys().next().unwrap(), "action");
    }

    #[test]
    fn a_facade_of_one_action() {
        check(
            "flat_one",
            fixture::one(
                json!({"path": {"type": "string"}, "max_depth": {"type": "integer"}}),
                json!(["path"]),
            ),
        );
    }

    #[test]
    fn a_large_facade_moves_whole_lines() {
        let surface = fixture::large(40);
        let schema = check("flat_large", surface.clone());
        let contract = Contract::new(Arc::new(surface.clone())).unwrap();
        let description = contract.publish(&ExposeOptions::default())[0].description.clone();
        assert!(description.encode_utf16().count() <= limits::DESCRIPTION);
        let spilled = schema["properties"]["action"]["description"].as_str().unwrap();
        for action in &surface.actions {
            let line = format!("\n{}: {}", action.name, action.summary);
            assert!(description.contains(&line) != spilled.contains(&line), "{line}");
        }
    }

    #[test]
    fn one_name_of_several_types_gets_the_loosest_shape() {
        let action = |name: &str, schema: Value, required: bool| {
            let required = if required { json!(["p"]) } else { json!([]) };
            let text = json!({"type": "object", "properties": {"p": schema}, "required": required});
            fixture::action(name, text)
        };
        let surface = fixture::surface(
            "mixed",
            vec![
                action(
                    "a",
                    json!({"type": "integer", "minimum": 1, "maximum": 5, "description": "How many."}),
                    true,
                ),
                action(
                    "b",
                    json!({"type": "integer", "minimum": 0, "maximum": 3, "description": "How many."}),
                    false,
                ),
                action(
                    "c",
                    json!({"type": "string", "enum": ["all", "none"], "description": "Which."}),
                    false,
                ),
                loggia_facade::Action {
                    long_running: true,
                    details: true,
                    ..action(
                        "d",
                        json!({"type": ["string", "null"], "const": "all", "description": "Which."}),
                        true,
                    )
                },
            ],
        );
        check("flat_mixed", surface);
    }

    #[test]
    fn actions_of_a_parameter_are_listed_in_the_shortest_notation() {
        // Of six actions: those that take `p`, and those that require it.
        for (takes, requires, expected) in [
            ("abcdef", "abcdef", "[required] P."),
            ("abcdef", "", "P."),
            ("abcdef", "abde", "[required; optional in c, f] P."),
            ("abcdef", "abc", "[a*, b*, c*, d, e, f] P."),
            ("abcdef", "a", "[a*, b, c, d, e, f] P."),
            ("abcde", "abcde", "[all* but f] P."),
            ("abcde", "", "[all but f] P."),
            ("abcde", "ab", "[a*, b*, c, d, e] P."),
            ("abc", "abc", "[a*, b*, c*] P."),
            ("f", "", "[f] P."),
        ] {
            let action = |name: char| {
                let properties =
                    if takes.contains(name) { json!({"p": {"description": "P."}}) } else { json!({}) };
                let required = if requires.contains(name) { json!(["p"]) } else { json!([]) };
                let schema = json!({"type": "object", "properties": properties, "required": required});
                fixture::action(&name.to_string(), schema)
            };
            let surface = fixture::surface("who", "abcdef".chars().map(action).collect());
            let contract = Contract::new(Arc::new(surface)).unwrap();
            let published = contract.publish(&ExposeOptions::default())[0].input_schema.clone();
            assert_eq!(published["properties"]["p"]["description"], expected, "{takes} {requires}");
        }
    }

    #[test]
    fn many_descriptions_of_a_parameter_are_cut_between_texts() {
        let action = |index: usize| {
            let text = format!("{index}{}", " words".repeat(10));
            fixture::action(
                &format!("a{index}"),
                json!({"type": "object", "properties": {"p": {"description": text}}}),
            )
        };
        let surface = fixture::surface("many", (0..40).map(action).collect());
        let contract = Contract::new(Arc::new(surface)).unwrap();
        let text =
            contract.publish(&ExposeOptions::default())[0].input_schema["properties"]["p"]["description"]
                .as_str()
                .unwrap()
                .to_owned();
        assert!(text.chars().count() <= limits::DESCRIPTION, "{}", text.len());
        assert!(text.ends_with("words; more by `describe`"), "{text}");
    }

    #[test]
    fn annotations_are_the_worst_of_all_actions() {
        let published =
            Contract::new(Arc::new(fixture::notes())).unwrap().publish(&ExposeOptions::default())[0].clone();
        assert_eq!((published.read_only, published.destructive), (false, true));
        assert_eq!((published.idempotent, published.open_world), (false, false));
        let mut surface = fixture::notes();
        surface.actions.retain(|action| action.effect == loggia_facade::Effect::Read);
        surface.actions[0].open_world = true;
        surface.title = String::new();
        let published =
            Contract::new(Arc::new(surface)).unwrap().publish(&ExposeOptions::default())[0].clone();
        assert_eq!((published.read_only, published.destructive), (true, false));
        assert_eq!((published.idempotent, published.open_world), (true, true));
        assert_eq!(published.title, "notes");
    }
}
