//! Any surface is refused in a few words, or published within the limits and without hidden characters.
#![no_main]

use std::sync::Arc;

use jsonschema::{Draft, PatternOptions};
use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target};
use loggia_facade::{Action, Detail, Object, Surface};
use loggia_fuzz::{json, surface, told};
use loggia_schema::{
    Contract, ExposeOptions, SchemaForm, PublishedTool, LintSeverity, SurfaceLimits, ToolSplit, ToolView, limits, lint, sanitise_surface,
};
use serde_json::Value;

const WORDS: &str = r##"$ref #/$defs/A # $defs $id $schema type string integer number boolean array object enum const properties
required additionalProperties patternProperties propertyNames unevaluatedProperties items prefixItems
contains uniqueItems minItems maxItems minLength maxLength minimum maximum exclusiveMinimum multipleOf
pattern ^a+$ (?=a) format date regex password allOf anyOf oneOf not if then else dependentRequired
dependentSchemas default examples description title x-hint x-secret writeOnly deprecated action params
detail describe batch run_status actions summary aliases data effect read write destructive details
long_running terms deny confirm default_action instructions nullable calls x-when __proto__
["string","null"] {"$ref":"#/$defs/A"} {"type":"object"}"##;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    json::mutate(data, size, max_size, seed, WORDS)
});

fuzz_target!(|data: &[u8]| -> Corpus {
    let Ok(said) = serde_json::from_slice::<Value>(data) else { return Corpus::Reject };
    look(&said);
    Corpus::Keep
});

fn look(said: &Value) {
    let surface = sanitise_surface(surface::surface(said));
    assert_eq!(sanitise_surface(surface.clone()), surface, "sanitised twice");
    let surface = Arc::new(surface);
    let contract = match Contract::new(Arc::clone(&surface)) {
        Ok(contract) => contract,
        Err(problems) => {
            assert!(!problems.0.is_empty());
            for problem in &problems.0 {
                told::fit("a problem", problem, 4096);
            }
            told::fit("all problems", &problems.to_string(), 64 << 10);
            // A cache may contain surfaces that an older version accepted.
            let _ = Contract::from_checked(surface);
            return;
        }
    };
    bounded(&surface);
    let known = Contract::from_checked(Arc::clone(&surface)).expect("what was accepted is known");
    known.compile().expect("its validators were compiled before");
    published(&contract, Some(&known));
    said["calls"].as_array().into_iter().flatten().for_each(|call| called(&contract, call));
    if let Ok(contract) = contract.with_policy(surface::terms(said)) {
        published(&contract, None);
    }
}

/// Checks that accepted calls fit the schema of the action's author, and that fitting calls are accepted.
fn called(contract: &Contract, call: &Value) {
    let (Some(name), Some(params)) = (call["action"].as_str(), call["params"].as_object()) else { return };
    let Ok(action) = contract.action(name) else { return };
    let theirs = Value::Object((*action.params).clone());
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    let options = options.with_pattern_options(PatternOptions::regex().size_limit(limits::COMPILED_PATTERN));
    let theirs = options.offline().build(&theirs).expect("an accepted schema");
    let sent = Value::Object(params.clone());
    match contract.prepare(action, params.clone()) {
        Ok(prepared) => {
            let complete = Value::Object(prepared.params.clone());
            assert!(theirs.is_valid(&complete), "{name} is given {complete}");
            let again = contract.prepare(action, prepared.params.clone()).expect("what is valid stays valid");
            assert_eq!(again.params, prepared.params, "prepared twice");
        }
        Err(failure) => {
            told::line("a refusal", &failure.message, 5000);
            // Except unknown parameters, and defaults that conflict with the arguments.
            let known = |schema: &Object| {
                let plain = [
                    "type",
                    "properties",
                    "required",
                    "additionalProperties",
                    "$defs",
                    "title",
                    "description",
                ];
                let named = schema.get("properties").and_then(Value::as_object);
                schema.keys().all(|key| plain.contains(&key.as_str()))
                    && params.keys().all(|name| named.is_some_and(|named| named.contains_key(name)))
            };
            let defaults = action.params.values().any(|part| part.to_string().contains("\"default\""));
            let refused = theirs.is_valid(&sent)
                && known(&action.params)
                && !defaults
                && !failure.message.contains("too much work")
                && depth(&sent) < limits::NESTING;
            assert!(!refused, "{name} is not given {sent}, which fits: {}", failure.message);
        }
    }
}

/// Checks an accepted surface against the limits.
fn bounded(surface: &Surface) {
    let Surface { name, title, version, summary, instructions, actions, wants, .. } = surface;
    told::line("the name", name, 32);
    told::line("the title", title, limits::TITLE);
    told::line("the version", version, limits::VERSION);
    told::fit("the summary", summary, limits::SUMMARY);
    told::fit("the instructions", instructions.as_deref().unwrap_or_default(), limits::INSTRUCTIONS);
    assert!((1..=SurfaceLimits::PLUGIN.actions).contains(&actions.len()) && wants.len() <= limits::WANTS);
    for Action { name, summary, aliases, params, data, examples, .. } in actions {
        told::line("an action's name", name, limits::TOOL_NAME);
        told::fit("an action's summary", summary, limits::ACTION_SUMMARY);
        assert!(aliases.len() <= limits::ALIASES && examples.len() <= limits::EXAMPLES);
        let size = |value: &Value| value.to_string().len();
        let params = Value::Object((**params).clone());
        assert!(size(&params) <= SurfaceLimits::PLUGIN.schema && depth(&params) <= limits::NESTING + 1);
        assert!(data.as_deref().is_none_or(|data| !data.is_object() || size(data) <= SurfaceLimits::PLUGIN.schema));
        // Schemas that are published unchanged have no hidden characters.
        values(&params, &mut |text| told::clean("a schema", &text.replace('\t', "")));
    }
    let again = sanitise_surface(surface.clone());
    assert_eq!(&again, surface);
}

/// Every text of a value, names included.
fn values(value: &Value, each: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter().for_each(|item| values(item, each)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            each(name);
            values(value, each);
        }),
        _ => {}
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Checks that every form is readable and usable, and independent of the cache.
fn published(contract: &Contract, known: Option<&Contract>) {
    for form in SchemaForm::ALL {
        for split in [ToolSplit::None, ToolSplit::Effect] {
            let expose = ExposeOptions { form, split, output_schema: true, short_names: false };
            let tools = contract.publish(&expose);
            assert!(!tools.is_empty());
            if let Some(known) = known {
                assert_eq!(tools, known.publish(&expose), "published by what is known");
            }
            let raw = contract.effective_form(form) == SchemaForm::Raw;
            tools.iter().for_each(|published| tool(published, raw));
        }
    }
    for action in &contract.surface().actions {
        told::line("a signature", contract.signature(action), 64 << 10);
        for detail in [Detail::Minimal, Detail::Standard, Detail::Full] {
            let told = contract.describe(Some(&action.name), detail, &ToolView::all_actions()).expect("it is there");
            values(&told, &mut |text| told::clean("a description", &text.replace('\t', "")));
        }
    }
    contract.describe(None, Detail::Full, &ToolView::all_actions()).expect("the facade is there");
}

fn tool(tool: &PublishedTool, raw: bool) {
    told::line("a tool's name", &tool.name, limits::TOOL_NAME);
    told::line("a tool's title", &tool.title, limits::TITLE + 64);
    told::fit("a tool's description", &tool.description, 8 << 10);
    let schema = Value::Object((*tool.input_schema).clone());
    assert!(depth(&schema) <= 2 * limits::NESTING, "{} deep", depth(&schema));
    // The maximum of all actions together, plus the host's own texts.
    assert!(schema.to_string().len() <= 2 * SurfaceLimits::PLUGIN.total, "{} bytes", schema.to_string().len());
    values(&schema, &mut |text| told::clean("a published schema", &text.replace('\t', "")));
    for schema in std::iter::once(&schema).chain(&tool.output_schema.as_deref().cloned().map(Value::Object)) {
        let compiled = jsonschema::options().with_draft(Draft::Draft202012).offline().build(schema);
        compiled.unwrap_or_else(|error| panic!("{} is published as {schema}: {error}", tool.name));
    }
    if !raw {
        let rejected = lint(tool).into_iter().find(|finding| finding.severity == LintSeverity::Rejects);
        assert!(
            rejected.is_none(),
            "{}: {}",
            tool.name,
            rejected.map(|found| found.to_string()).unwrap_or_default()
        );
    }
}
