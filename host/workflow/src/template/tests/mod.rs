//! Tests of templates.

mod bounds;
mod given;
mod golden;
mod known;
mod references;
mod strict;

use loggia_facade::Object;
use serde_json::{Value, json};

use super::{EvalError, ExpandedText, TemplateScope, TextTemplate, function::BuiltinFunction, limits};

/// Expands a template over a root.
fn expand(source: &str, root: &Value, strict: bool) -> Result<ExpandedText, EvalError> {
    let empty = Object::new();
    let base = root.as_object().unwrap_or(&empty);
    let scope = TemplateScope { base, for_each: None };
    let template = TextTemplate::parse(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    template.expand(&scope, strict)
}

fn text(source: &str, root: &Value) -> String {
    expand(source, root, false).unwrap_or_else(|error| panic!("{source}: {error}")).text
}

/// Returns a template's error with its hint.
fn failure(source: &str, root: &Value, strict: bool) -> String {
    match expand(source, root, strict) {
        Ok(expanded) => panic!("{source} gives {:?}", expanded.text),
        Err(EvalError { message, hint: Some(hint) }) => format!("{message} ({hint})"),
        Err(EvalError { message, hint: None }) => message,
    }
}

fn parse_error(source: &str) -> String {
    match TextTemplate::parse(source) {
        Ok(_) => panic!("{source} is a template"),
        Err(error) => format!("{}: {}", error.at.map_or("?".to_owned(), |at| at.to_string()), error.message),
    }
}

fn function_names() -> Vec<&'static str> {
    BuiltinFunction::names().collect()
}

fn data() -> Value {
    json!({
        "params": {
            "title": "Test", "n": 3, "frac": 2.5, "nul": null, "list": ["a", "b", {"k": 1}], "empty": "", "on": true,
            "big": 9_007_199_254_740_993_i64, "biggest": u64::MAX, "float": 1_234_567.0, "uni": "héllo ☃",
            "obj": {"key": "value", "a": 1, "z": null}
        },
        "steps": {
            "fetch": {"status": "completed", "output": {"text": "[\"apple\", {\"k\": 12}]", "data": "D"},
                      "content": {"text": "content text", "resource": "{\"spdx\":1}"}},
            "my-step": {"output": {"v": "hv"}}
        }
    })
}
