//! Results of real Go.

use serde_json::Value;

use super::{TextTemplate, expand};

const CASES: &str = include_str!("../../../tests/data/go_template_cases.json");

/// Deliberate differences.
const OTHERWISE: &[(&str, &str)] = &[
    ("x005", "a field of an explicit null is missing, not an error"),
    ("x060", "whole numbers and floats compare"),
    ("x097", "a number from JSON that is whole is a whole number, so `%d` prints it"),
];

/// Unwraps `{"$int": 3}`, which marks Go's integers in the file.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(object) => match object.get("$int") {
            Some(int) => int.clone(),
            None => Value::Object(object.iter().map(|(name, value)| (name.clone(), plain(value))).collect()),
        },
        Value::Array(list) => list.iter().map(plain).collect(),
        other => other.clone(),
    }
}

#[test]
fn templates_match_go() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let root = plain(&cases["ctx"]);
    let mut otherwise = Vec::new();
    let mut wrong = Vec::new();
    let exec = cases["exec"].as_array().unwrap();
    assert_eq!(exec.len(), 120);
    for case in exec {
        let (id, source) = (case["id"].as_str().unwrap(), case["template"].as_str().unwrap());
        let given = match TextTemplate::parse(source) {
            Ok(_) => expand(source, &root, false).map_err(|error| error.to_string()).map(|given| given.text),
            Err(error) => Err(error.to_string()),
        };
        let same = match (&given, case["out"].as_str()) {
            (Ok(text), Some(expected)) => text == expected,
            (Err(_), None) => true,
            _ => false,
        };
        if OTHERWISE.iter().any(|(listed, _)| *listed == id) {
            otherwise.push(format!("{id} {source} → {given:?}"));
            assert!(!same, "{id} {source} is listed as one that differs, and does not");
        } else if !same {
            wrong.push(format!("{id} {source} → {given:?}, not {} {}", case["out"], case["err"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(otherwise.len(), OTHERWISE.len(), "all that are listed are cases");
    insta::assert_snapshot!(otherwise.join("\n"));
}

#[test]
fn syntax_matches_go() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let parse = cases["parse"].as_array().unwrap();
    assert_eq!(parse.len(), 17);
    let told = parse.iter().map(|case| {
        let source = case["template"].as_str().unwrap();
        let given = TextTemplate::parse(source);
        assert_eq!(given.is_ok(), case["ok"].as_bool().unwrap(), "{source}: {given:?}");
        match given {
            Ok(_) => format!("{source}  is one"),
            Err(error) => format!("{source}  at {:?}: {error}", error.at),
        }
    });
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"));
}
