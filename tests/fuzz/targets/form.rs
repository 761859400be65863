//! Any form of a plugin is refused in a few words, or shown without hidden text, references and patterns; and any
//! answer of a person is validated.
#![no_main]

use jsonschema::Draft;
use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target};
use loggia_fuzz::{json, told};
use loggia_schema::QuestionForm;
use serde_json::Value;

const WORDS: &str = r##"form answer type object string integer number boolean array properties required additionalProperties
title description default enum enumNames oneOf anyOf const items minItems maxItems minLength maxLength minimum maximum format
email uri date date-time password secret token $ref $defs #/$defs/a $schema pattern a[ab]{9000} allOf not if writeOnly
[{"const":"a","title":"A"}] {"type":"string","enum":["a"]} {"$ref":"#"} null -1 1e9 2026-01-31"##;

/// Keywords for nested schemas and patterns.
const NONE_OF: [&str; 10] = [
    "$ref",
    "$defs",
    "$id",
    "pattern",
    "patternProperties",
    "allOf",
    "not",
    "if",
    "contains",
    "additionalProperties",
];

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    json::mutate(data, size, max_size, seed, WORDS)
});

fuzz_target!(|data: &[u8]| -> Corpus {
    let Ok(said) = serde_json::from_slice::<Value>(data) else { return Corpus::Reject };
    let Some(schema) = said["form"].as_object() else { return Corpus::Reject };
    let form = match QuestionForm::new(schema) {
        Ok(form) => form,
        Err(said) => {
            told::line("a refusal", &said, 1000);
            return Corpus::Keep;
        }
    };
    let shown = Value::Object(form.schema().clone());
    texts(&shown, &mut |text| told::line("a form", text, 1000));
    keys(&shown["properties"], true);
    let again = QuestionForm::new(form.schema()).unwrap_or_else(|said| panic!("{shown} is refused: {said}"));
    assert_eq!(again.schema(), form.schema(), "read twice");
    let plain = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    let plain = plain.offline().build(&shown).unwrap_or_else(|error| panic!("{shown} is no schema: {error}"));
    match form.check(&said["answer"]) {
        Ok(()) => assert!(plain.is_valid(&said["answer"]), "{} is taken by {shown}", said["answer"]),
        Err(said) => told::line("what does not fit", &said, 1000),
    }
    Corpus::Keep
});

fn texts(value: &Value, each: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, each)),
        Value::Object(members) => members.values().for_each(|value| texts(value, each)),
        _ => {}
    }
}

/// Checks that no keyword of a field, at any depth, exceeds a form. Names of fields are arbitrary.
fn keys(value: &Value, are_names: bool) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| keys(item, false)),
        Value::Object(members) => {
            for (key, value) in members {
                assert!(are_names || !NONE_OF.contains(&key.as_str()), "{key} is shown");
                keys(value, false);
            }
        }
        _ => {}
    }
}
