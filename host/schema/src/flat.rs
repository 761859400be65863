//! The default published form: one flat object, `action` first, each parameter once.
//!
//! Clients reject or drop most of JSON Schema (one rejected tool can hide a whole server), so the root holds `type`,
//! `properties`, `required` and `additionalProperties`, properties are plain (see [`Shape`]), and everything else is said
//! in words. Which action takes which parameter stands before its description: `[add*, update] The text.`

use loggia_facade::{Action, Detail, Object, Surface};
use serde_json::{Value, json};

use crate::{
    Contract, limits,
    own::Own,
    publish::{Published, description},
    rules::Rules,
    shape::{Member, Shape},
    show,
};

/// Makes the flat form.
pub(crate) fn publish(contract: &Contract) -> Published {
    let surface = contract.surface();
    let (description, spilled) = description(contract);
    let parameters = parameters(surface, contract.rules());
    let mut properties = Object::new();
    let whole = surface.actions.len();
    let with_legend = parameters.iter().any(|parameter| parameter.lists_actions(whole));
    properties.insert("action".into(), action(contract, &spilled, with_legend));
    for parameter in parameters {
        let (name, property) = parameter.publish(&surface.actions);
        properties.insert(name, property);
    }
    let mut schema = Object::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if surface.default_action.is_none() && whole != 1 {
        schema.insert("required".into(), json!(["action"]));
    }
    schema.insert("additionalProperties".into(), false.into());
    Published::new(surface, description, schema)
}

/// The property that names the action.
fn action(contract: &Contract, spilled: &[String], with_legend: bool) -> Value {
    let surface = contract.surface();
    let names = surface.actions.iter().map(|action| action.name.as_str());
    let names: Vec<&str> = names.chain(contract.own_names()).collect();
    let mut text = String::from("What to do.");
    if let Some(default) = &surface.default_action {
        text.push_str(&format!(" Default {default}."));
    } else if let [only] = surface.actions.as_slice() {
        text.push_str(&format!(" Default {}.", only.name));
    }
    if with_legend {
        text.push_str(" Parameters: [actions that take it], * = required.");
    }
    for line in spilled {
        text.push('\n');
        text.push_str(line);
    }
    json!({"type": "string", "enum": names, "description": text})
}

/// One name among the parameters, with all that the actions mean by it.
struct Parameter<'a> {
    name: &'a str,
    shape: Shape,
    /// What it is, and for which actions, in the order in which they say so.
    uses: Vec<Use<'a>>,
}

/// The actions that say the same of a parameter.
struct Use<'a> {
    text: &'a str,
    actions: Vec<(&'a str, bool)>,
    /// How many of them are the facade's own.
    own: usize,
}

fn parameters<'a>(surface: &'a Surface, rules: &'a [Rules]) -> Vec<Parameter<'a>> {
    let mut out: Vec<Parameter<'a>> = Vec::new();
    for (action, rules) in surface.actions.iter().zip(rules) {
        for Member { name, required, shape, text } in rules.parameters() {
            add(&mut out, name, shape.clone(), text, (&action.name, *required), true);
        }
    }
    // The host's own, only where they live. `wait` and `run_id` will stand here with runs.
    for action in surface.actions.iter().filter(|action| action.details) {
        let levels = Detail::ALL.map(|level| level.as_str().to_owned()).to_vec();
        add(&mut out, "detail", Shape::Text(Some(levels)), "default standard", (&action.name, false), true);
    }
    add(&mut out, "of", Shape::Text(None), "an action", (Own::Describe.name(), false), false);
    out
}

fn add<'a>(
    out: &mut Vec<Parameter<'a>>,
    name: &'a str,
    shape: Shape,
    text: &'a str,
    action: (&'a str, bool),
    own: bool,
) {
    let known = match out.iter_mut().find(|parameter| parameter.name == name) {
        Some(known) => {
            known.shape = std::mem::replace(&mut known.shape, Shape::Any).loosest(shape);
            known
        }
        None => out.push_mut(Parameter { name, shape, uses: Vec::new() }),
    };
    match known.uses.iter_mut().find(|known| known.text == text) {
        Some(known) => {
            known.actions.push(action);
            known.own += usize::from(own);
        }
        None => known.uses.push(Use { text, actions: vec![action], own: usize::from(own) }),
    }
}

impl Parameter<'_> {
    /// Whether its description says which of the facade's actions take it.
    fn lists_actions(&self, whole: usize) -> bool {
        self.uses.iter().any(|used| used.own > 0 && used.by_all(whole).is_none())
    }

    fn publish(self, all: &[Action]) -> (String, Value) {
        let uses: Vec<String> = self.uses.iter().map(|used| used.describe(self.name, all)).collect();
        let mut property = self.shape.to_json();
        property.insert("description".into(), joined(&uses).into());
        (self.name.to_owned(), property.into())
    }
}

/// What all say of a parameter, whole sentences, as far as every client shows them.
fn joined(uses: &[String]) -> String {
    let mut out = String::new();
    for text in uses {
        let separator = match out.chars().last() {
            None => "",
            Some('.' | '!' | '?') => " ",
            Some(_) => "; ",
        };
        if !out.is_empty() && out.len() + text.len() > limits::DESCRIPTION - 40 {
            out.push_str("; more by `describe`");
            break;
        }
        out.push_str(separator);
        out.push_str(text);
    }
    out
}

impl Use<'_> {
    /// The actions that do not require it, where all take it and naming these is shorter.
    fn required_by_most(&self, whole: usize) -> Option<Vec<&str>> {
        let optional: Vec<&str> =
            self.actions.iter().filter(|(_, required)| !required).map(|(name, _)| *name).collect();
        let all = self.own == whole && self.actions.len() == whole;
        (all && whole > 2 * optional.len() + 1).then_some(optional)
    }

    /// Whether it is required, and the actions that do not take it, where naming these is shorter.
    fn by_most<'a>(&self, all: &'a [Action]) -> Option<(bool, Vec<&'a str>)> {
        let required = self.actions.iter().filter(|(_, required)| *required).count();
        let takes = |action: &Action| self.actions.iter().any(|(name, _)| *name == action.name);
        let others: Vec<&str> =
            all.iter().filter(|action| !takes(action)).map(|action| action.name.as_str()).collect();
        let shorter = self.own == self.actions.len() && self.own > 2 * others.len() + 1 && !others.is_empty();
        (shorter && [0, self.own].contains(&required)).then_some((required > 0, others))
    }

    /// Whether it is required, where all actions take it and agree on that.
    fn by_all(&self, whole: usize) -> Option<bool> {
        let required = self.actions.iter().filter(|(_, required)| *required).count();
        let all = self.own == whole && self.actions.len() == whole && [0, whole].contains(&required);
        all.then_some(required > 0)
    }

    fn describe(&self, name: &str, all: &[Action]) -> String {
        let whole = all.len();
        let text = show::cut(self.text, limits::PARAMETER_TEXT);
        let takers = match self.by_all(whole) {
            // Nothing to say beyond the text; but no description is to be empty.
            Some(false) if text.is_empty() => return name.replace(['_', '-'], " "),
            Some(false) => return text,
            Some(true) => "required".to_owned(),
            None => {
                let star = |required| if required { "*" } else { "" };
                if let Some(optional) = self.required_by_most(whole) {
                    return format!("[required; optional in {}] {text}", optional.join(", "))
                        .trim_end()
                        .to_owned();
                }
                if let Some((required, others)) = self.by_most(all) {
                    return format!("[all{} but {}] {text}", star(required), others.join(", "))
                        .trim_end()
                        .to_owned();
                }
                let names = self.actions.iter().map(|(name, required)| format!("{name}{}", star(*required)));
                names.collect::<Vec<_>>().join(", ")
            }
        };
        format!("[{takers}] {text}").trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Contract, Expose, fixture};

    fn check(name: &str, surface: Surface) -> Arc<Object> {
        let contract = Contract::new(Arc::new(surface.clone())).unwrap();
        let published = contract.publish(&Expose::default())[0].clone();
        let text = format!(
            "{}\n---\n{}",
            published.description,
            serde_json::to_string_pretty(&*published.input_schema).unwrap()
        );
        insta::assert_snapshot!(name, text);
        let again = Contract::known(Arc::new(surface)).unwrap();
        assert_eq!(published.description, again.publish(&Expose::default())[0].description);
        let bytes = |schema: &Object| serde_json::to_string(schema).unwrap();
        assert_eq!(
            bytes(&published.input_schema),
            bytes(&again.publish(&Expose::default())[0].input_schema),
            "byte for byte"
        );
        published.input_schema.clone()
    }

    /// Fails on anything that a client rejects; see `research/mcp.md` §4 and §5.
    fn lint(schema: &Value, is_root: bool) {
        let schema = schema.as_object().unwrap();
        for key in schema.keys() {
            let known: &[&str] = if is_root {
                &["type", "properties", "required", "additionalProperties"]
            } else {
                &[
                    "type",
                    "properties",
                    "required",
                    "additionalProperties",
                    "items",
                    "enum",
                    "description",
                    "anyOf",
                    "minimum",
                    "maximum",
                ]
            };
            assert!(known.contains(&key.as_str()), "{key} in {schema:?}");
        }
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "object" => assert!(schema["properties"].is_object()),
            Some(Value::String(kind)) if kind == "array" => assert!(schema["items"].is_object()),
            Some(kind) => assert!(kind.is_string(), "{kind}"),
            None => {}
        }
        let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        assert!(values.into_iter().all(Value::is_string));
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        properties.for_each(|(_, schema)| lint(schema, false));
        schema.get("items").into_iter().for_each(|schema| lint(schema, false));
        schema
            .get("anyOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .for_each(|schema| lint(schema, false));
    }

    #[test]
    fn a_small_facade() {
        let schema = check("flat_notes", fixture::notes());
        lint(&Value::Object((*schema).clone()), true);
        assert_eq!(schema["properties"].as_object().unwrap().keys().next().unwrap(), "action");
    }

    #[test]
    fn a_facade_of_one_action() {
        let schema = check(
            "flat_one",
            fixture::one(
                json!({"path": {"type": "string"}, "max_depth": {"type": "integer"}}),
                json!(["path"]),
            ),
        );
        lint(&Value::Object((*schema).clone()), true);
    }

    #[test]
    fn a_large_facade_spills_whole_lines() {
        let surface = fixture::large(40);
        let schema = check("flat_large", surface.clone());
        lint(&Value::Object((*schema).clone()), true);
        let contract = Contract::new(Arc::new(surface.clone())).unwrap();
        let description = contract.publish(&Expose::default())[0].description.clone();
        assert!(description.encode_utf16().count() <= limits::DESCRIPTION);
        let spilled = schema["properties"]["action"]["description"].as_str().unwrap();
        for action in &surface.actions {
            let line = format!("\n{}: {}", action.name, action.summary);
            assert!(description.contains(&line) != spilled.contains(&line), "{line}");
        }
    }

    #[test]
    fn one_name_of_several_kinds_is_published_as_the_loosest() {
        let of = |name: &str, schema: Value, required: bool| {
            let required = if required { json!(["p"]) } else { json!([]) };
            let text = json!({"type": "object", "properties": {"p": schema}, "required": required});
            fixture::action(name, text)
        };
        let surface = fixture::surface(
            "mixed",
            vec![
                of(
                    "a",
                    json!({"type": "integer", "minimum": 1, "maximum": 5, "description": "How many."}),
                    true,
                ),
                of(
                    "b",
                    json!({"type": "integer", "minimum": 0, "maximum": 3, "description": "How many."}),
                    false,
                ),
                of("c", json!({"type": "string", "enum": ["all", "none"], "description": "Which."}), false),
                loggia_facade::Action {
                    long_running: true,
                    details: true,
                    ..of(
                        "d",
                        json!({"type": ["string", "null"], "const": "all", "description": "Which."}),
                        true,
                    )
                },
            ],
        );
        let schema = check("flat_mixed", surface);
        lint(&Value::Object((*schema).clone()), true);
    }

    #[test]
    fn who_takes_a_parameter_is_said_as_shortly_as_can_be() {
        // Of six actions, which take `p`, and which require it.
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
            let published = contract.publish(&Expose::default())[0].input_schema.clone();
            assert_eq!(published["properties"]["p"]["description"], expected, "{takes} {requires}");
        }
    }

    #[test]
    fn a_parameter_that_every_action_means_differently_is_cut_at_a_whole_text() {
        let action = |index: usize| {
            let text = format!("{index}{}", " words".repeat(10));
            fixture::action(
                &format!("a{index}"),
                json!({"type": "object", "properties": {"p": {"description": text}}}),
            )
        };
        let surface = fixture::surface("many", (0..40).map(action).collect());
        let contract = Contract::new(Arc::new(surface)).unwrap();
        let text = contract.publish(&Expose::default())[0].input_schema["properties"]["p"]["description"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(text.chars().count() <= limits::DESCRIPTION, "{}", text.len());
        assert!(text.ends_with("words; more by `describe`"), "{text}");
    }

    #[test]
    fn annotations_are_the_worst_over_all_actions() {
        let published =
            Contract::new(Arc::new(fixture::notes())).unwrap().publish(&Expose::default())[0].clone();
        assert_eq!((published.read_only, published.destructive), (false, true));
        assert_eq!((published.idempotent, published.open_world), (false, false));
        let mut surface = fixture::notes();
        surface.actions.retain(|action| action.effect == loggia_facade::Effect::Read);
        surface.actions[0].open_world = true;
        surface.title = String::new();
        let published = Contract::new(Arc::new(surface)).unwrap().publish(&Expose::default())[0].clone();
        assert_eq!((published.read_only, published.destructive), (true, false));
        assert_eq!((published.idempotent, published.open_world), (true, true));
        assert_eq!(published.title, "notes");
    }
}
