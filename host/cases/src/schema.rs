//! JSON Schema of cases files, for editors.

use serde_json::{Map, Value, json};

use super::{
    keys::{CaseKey, CaseValue, FILE_KEYS},
    policy::SECTIONS,
};

/// The schema of a cases file.
pub fn case_schema() -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Cases of a Loggia plugin",
    });
    if let (Some(schema), Value::Object(object)) = (schema.as_object_mut(), object(FILE_KEYS)) {
        schema.extend(object);
    }
    schema
}

fn object(keys: &[CaseKey]) -> Value {
    let properties: Map<String, Value> = keys
        .iter()
        .map(|key| {
            let mut schema = value(&key.value);
            schema["description"] = key.means.into();
            (key.name.to_owned(), schema)
        })
        .collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.is_required).map(|key| key.name).collect();
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

fn value(value: &CaseValue) -> Value {
    match value {
        // A blank text is refused.
        CaseValue::Text => json!({"type": "string", "pattern": "\\S"}),
        CaseValue::Flag => json!({"type": "boolean"}),
        CaseValue::Yes => json!({"const": true}),
        CaseValue::Count => json!({"type": "integer", "minimum": 1}),
        CaseValue::Texts => json!({"type": "array", "items": {"type": "string", "pattern": "\\S"}}),
        CaseValue::Any => json!({}),
        CaseValue::Members => json!({"type": "object"}),
        CaseValue::MembersOrYes => json!({"anyOf": [{"type": "object"}, {"const": true}]}),
        CaseValue::Arguments => {
            json!({"type": "object", "anyOf": [{"required": ["action"]}, {"required": ["cmd"]}]})
        }
        CaseValue::Policy => {
            let sections = SECTIONS.iter().map(|name| ((*name).to_owned(), json!({"type": "object"})));
            let grants = loggia_policy::grants::names().map(|name| (name.to_owned(), json!({})));
            let properties: Map<String, Value> = sections.chain(grants).collect();
            json!({"type": "object", "properties": properties, "additionalProperties": false})
        }
        CaseValue::Object(keys) => object(keys),
        CaseValue::List(keys) => json!({"type": "array", "minItems": 1, "items": object(keys)}),
        CaseValue::Replies(keys) => {
            let mut reply = object(keys);
            let answers = keys.iter().skip(1).map(|key| json!({"required": [key.name]}));
            reply["oneOf"] = answers.collect::<Vec<_>>().into();
            json!({"type": "array", "items": reply})
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::parse_case_file;

    #[test]
    fn the_published_schema_is_current() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cases.schema.json");
        let text = format!("{:#}\n", case_schema());
        if std::env::var_os("LOGGIA_WRITE").is_some() {
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "LOGGIA_WRITE=1 writes it");
    }

    #[test]
    fn the_schema_accepts_what_the_parser_does() {
        let schema = jsonschema::validator_for(&case_schema()).unwrap();
        let case = "{ name: a, call: { action: x } }";
        let with = |keys: &str| format!("cases: [{{ name: a, call: {{ action: x }}, {keys} }}]");
        for (text, expected) in [
            (format!("cases: [{case}]"), true),
            (format!("{{ cases: [{case}], http: live, surface: true, with: [b], plugin: c }}"), true),
            (format!("{{ cases: [{case}], policy: {{ store: true, limits: {{ memory: 8MiB }} }} }}"), true),
            (format!("{{ cases: [{case}], limits: {{ tokens: 300, p95-ms: 20 }} }}"), true),
            (with("expect: { ok: false, code: denied, data: null }"), true),
            (
                with("person: [{ asks: /x/, declined: true }, { accepted: { a: 1 } }, { accepted: true }]"),
                true,
            ),
            (with("state: { before: {}, after: { k: null } }, own-state: { exactly: {} }"), true),
            ("cases: [{ name: a, call: { cmd: x } }]".to_owned(), true),
            ("cases: []".to_owned(), false),
            ("http: x".to_owned(), false),
            ("a".to_owned(), false),
            (format!("{{ cases: [{case}], polcy: {{}} }}"), false),
            (format!("{{ cases: [{case}], policy: {{ stor: true }} }}"), false),
            (format!("{{ cases: [{case}], policy: {{ limits: 1 }} }}"), false),
            (format!("{{ cases: [{case}], limits: {{ tokens: 0 }} }}"), false),
            (format!("{{ cases: [{case}], http: ' ' }}"), false),
            ("cases: [{ name: a, call: { x: 1 } }]".to_owned(), false),
            ("cases: [{ call: { action: x } }]".to_owned(), false),
            (with("expect: { dat: 1 }"), false),
            (with("person: [{}]"), false),
            (with("person: [{ declined: false }]"), false),
            (with("person: [{ declined: true, cancelled: true }]"), false),
            (with("state: { before: [] }"), false),
        ] {
            let json = loggia_workflow::yaml::parse(&text).unwrap().root.to_json().unwrap();
            let accepted = (parse_case_file(&text).is_ok(), schema.is_valid(&json));
            assert_eq!(accepted, (expected, expected), "{text}");
        }
    }

    #[test]
    fn the_guide_explains_every_key() {
        let guide = include_str!("../../../docs/authors/tests.md");
        fn check(guide: &str, keys: &[CaseKey]) {
            for key in keys {
                assert!(
                    guide.contains(&format!("`{}`", key.name)) || guide.contains(&format!("`{}: ", key.name)),
                    "{}",
                    key.name
                );
                match &key.value {
                    CaseValue::Object(keys) | CaseValue::List(keys) | CaseValue::Replies(keys) => {
                        check(guide, keys)
                    }
                    _ => {}
                }
            }
        }
        check(guide, FILE_KEYS);
    }
}
