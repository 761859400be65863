//! The `flat` form, the default: one flat object, `action` first, each parameter once.
//!
//! Clients reject or drop most of JSON Schema, and one rejected tool can hide a whole server. So the root has only
//! `type`, `properties`, `required` and `additionalProperties`, properties are plain (see [`brief_schema`]), and
//! everything else is in the descriptions. The tool's description has a line for each action:
//!
//! ```text
//! add(title, body?, kind?: note|task): Add a note.
//! ```
//!
//! The names are those of the properties; `?` marks optional ones, and a type follows where the action takes less than
//! the property allows. `tests/flat_reader.rs` reads a tool back into its actions and their parameters.
//!
//! [`brief_schema`]: crate::publish::brief_schema

use loggia_facade::Object;
use serde_json::{Value, json};

use crate::{
    model::{brief::brief_summary, sanitise::sanitise_line, shape::ShapeMember, signature::call_form},
    publish::{
        description::{ToolDescription, summary_line},
        host_parameters,
        parameters::ParameterTable,
        part::ToolPart,
        tool::PublishedTool,
    },
};

/// Publishes a part of a facade in this form.
pub(crate) fn publish(part: &ToolPart<'_>) -> PublishedTool {
    let parameters = parameters(part);
    let ToolDescription { text: description, spilled } =
        ToolDescription::new(part, action_lines(part, &parameters));
    let mut properties = Object::new();
    properties.insert("action".into(), action_property(part, &spilled));
    properties.extend(parameters.publish());
    // The gate refuses other parameters anyway, so `additionalProperties` would say nothing.
    PublishedTool::from_part(part, description, root_schema(part, properties, true))
}

/// One line per action: `add(title, body?): Add a note.`
fn action_lines(part: &ToolPart<'_>, parameters: &ParameterTable<'_>) -> Vec<String> {
    let above = sanitise_line(&part.contract.surface().summary, usize::MAX);
    let lines = part.with_rules().map(|(action, rules)| {
        let call = call_form(&action.name, &rules.shape, &|name| parameters.shape(name));
        let summary = summary_line(action);
        if summary == above { call } else { format!("{call}: {}", brief_summary(&summary)) }
    });
    lines.collect()
}

/// The property that selects the action.
pub(crate) fn action_property(part: &ToolPart<'_>, spilled: &[String]) -> Value {
    let text = spilled.join("\n");
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

/// The parameters of all actions. No line of an action names those of the host: any action accepts them.
fn parameters<'a>(part: &ToolPart<'a>) -> ParameterTable<'a> {
    let mut out = ParameterTable::new(&part.contract.surface().name);
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
            let summary = action.summary.trim_end_matches('.');
            let is_line =
                |line: &str| line.starts_with(&format!("{}(", action.name)) && line.contains(summary);
            let lines = description.lines().chain(spilled.lines());
            assert_eq!(lines.filter(|line| is_line(line)).count(), 1, "{}", action.name);
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

    /// The description of a facade with these schemas of the actions `a`, `b` and so on, and that of the parameter `p`.
    fn published(schemas: &[Value]) -> (String, Value) {
        let names = ["a", "b", "c"];
        let actions = names.iter().zip(schemas).map(|(name, schema)| fixture::action(name, schema.clone()));
        let surface = fixture::surface("who", actions.collect());
        let tool = Contract::new(Arc::new(surface)).unwrap().publish(&ExposeOptions::default()).remove(0);
        let lines = tool.description.lines().skip(1).collect::<Vec<_>>().join("\n");
        (lines, tool.input_schema["properties"]["p"].clone())
    }

    #[test]
    fn an_action_gives_the_types_that_the_property_does_not() {
        let takes = |kind: Value, required: Value| json!({"type": "object", "properties": {"p": kind, "o": {"type": "integer"}}, "required": required});
        let words = |words: Value| json!({"type": "string", "enum": words});
        for (first, second, lines, schema) in [
            (
                words(json!(["x", "y"])),
                words(json!(["x", "y"])),
                "a(p, o?): Does a\nb(p?, o): Does b",
                json!({"type": "string", "enum": ["x", "y"]}),
            ),
            (
                words(json!(["x"])),
                words(json!(["x", "y"])),
                "a(p: x, o?): Does a\nb(p?, o): Does b",
                json!({"type": "string", "enum": ["x", "y"]}),
            ),
            (
                words(json!(["x"])),
                json!({"type": "string"}),
                "a(p: x, o?): Does a\nb(p?, o): Does b",
                json!({"type": "string"}),
            ),
            (
                json!({"type": "boolean"}),
                json!({"type": "integer"}),
                "a(p: boolean, o?): Does a\nb(p?: integer, o): Does b",
                json!({"anyOf": [{"type": "boolean"}, {"type": "integer"}]}),
            ),
        ] {
            let published = published(&[takes(first, json!(["p"])), takes(second, json!(["o"]))]);
            assert_eq!(published, (lines.to_owned(), schema));
        }
    }

    #[test]
    fn a_text_names_its_actions_unless_all_give_it() {
        let takes = |text: &str| json!({"type": "object", "properties": {"p": {"description": text}}});
        for (texts, expected) in [
            (&["How it goes.", "How it goes."][..], json!("How it goes")),
            (&["How it goes.", ""], json!("a: How it goes")),
            (
                &["How it goes.", "Where it ends.", "How it goes."],
                json!("a, c: How it goes; b: Where it ends"),
            ),
            // Texts that differ in few words say the same.
            (
                &["Only entries whose name matches.", "Only files whose name matches."],
                json!("Only entries whose name matches"),
            ),
            (&["", ""], Value::Null),
            (&["The p.", "Which p it is."], Value::Null),
        ] {
            let schemas: Vec<Value> = texts.iter().map(|text| takes(text)).collect();
            assert_eq!(published(&schemas).1["description"], expected, "{texts:?}");
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
