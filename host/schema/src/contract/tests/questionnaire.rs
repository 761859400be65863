//! Forms that are accepted and refused, and answers to them.

use loggia_facade::Object;
use loggia_text::is_clean;
use serde_json::{Value, json};

use crate::contract::questionnaire::{HIDES, QuestionForm};

fn form(properties: &Value) -> Result<QuestionForm, String> {
    let schema = json!({"type": "object", "properties": properties, "required": ["name"]});
    QuestionForm::new(schema.as_object().unwrap())
}

#[test]
fn forms_are_flat_and_ask_for_no_secrets() {
    let check = |properties: Value, expected: Option<&str>| {
        let problem = form(&properties).err();
        assert_eq!(problem.as_deref(), expected, "{properties}");
    };
    check(json!({"name": {"type": "string", "minLength": 1, "title": "Name"}}), None);
    check(
        json!({"name": {"type": "string", "format": "email"}, "n": {"type": "integer", "maximum": 5}}),
        None,
    );
    check(json!({"size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}]}}), None);
    check(json!({"tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}}), None);
    check(
        json!({"at": {"type": "object", "properties": {}}}),
        Some("its field `at` must be of type string, number, integer, boolean, or array of choices"),
    );
    check(json!({"tags": {"type": "array"}}), Some("its field `tags` is a list, but not of choices"));
    check(
        json!({"n": {"type": "integer", "multipleOf": 2}}),
        Some("its field `n` says `multipleOf`, which clients do not show"),
    );
    check(
        json!({"n": {"type": "integer", "minimum": 1.5}}),
        Some("its field `n` has a bound that is not an integer"),
    );
    check(
        json!({"name": {"type": "string", "minLength": 2.5}}),
        Some("its field `name` has a length that is not an integer"),
    );
    check(
        json!({"name": {"type": "string", "enum": ["a"], "minLength": 1}}),
        Some("its field `name` has choices and bounds, of which clients show one"),
    );
    check(
        json!({"tags": {"type": "array", "items": {"enum": ["a"]}}}),
        Some("its field `tags` is a list, but not of choices"),
    );
    check(
        json!({"name": {"type": "string", "format": "hostname"}}),
        Some("its field `name` has a format that clients do not know (email, uri, date, date-time)"),
    );
    for (name, schema) in [
        ("api_key", json!({"type": "string"})),
        ("Password", json!({"type": "string"})),
        ("pin", json!({"type": "string", "writeOnly": true})),
    ] {
        check(
            json!({ name: schema }),
            Some(&format!("its field `{name}` asks for a secret, which a form must not")),
        );
    }
    assert!(QuestionForm::new(&Object::new()).is_ok(), "yes or no");
    let refused = |schema: Value| QuestionForm::new(schema.as_object().unwrap()).err().unwrap();
    assert_eq!(refused(json!({"type": "string"})), "its type must be object");
    assert_eq!(refused(json!({"anyOf": []})), "it has `anyOf`, which clients do not show");
    for name in ["namename".repeat(100), "a\u{202e}b".into(), "a\tb".into(), "a\u{2028}b".into()] {
        let problem = refused(json!({"required": [name]}));
        assert!(
            problem.starts_with("a name that it requires has a name or a value with control"),
            "{problem}"
        );
    }
}

#[test]
fn answers_are_checked() {
    let form = form(&json!({"name": {"type": "string", "maxLength": 3}, "n": {"type": "integer"}})).unwrap();
    let check = |answer: Value, expected: Result<(), &str>| {
        assert_eq!(form.check(&answer), expected.map_err(str::to_owned), "{answer}");
    };
    check(json!({"name": "ada"}), Ok(()));
    check(json!({"name": "ada", "n": 5}), Ok(()));
    check(json!({}), Err("a required field is missing"));
    check(json!({"name": "Babbage"}), Err("`name` does not fit `maxLength`"));
    check(json!({"name": "ada", "n": "x"}), Err("`n` does not fit `type`"));
    check(json!({"name": "ada", "x": 1}), Err("there is no field `x`"));
    check(json!("ada"), Err("it is not an object"));
}

#[test]
fn nested_schemas_are_refused() {
    let patterns: Vec<Value> =
        (0..30).map(|n| json!({"pattern": format!("a[ab]{{{}}}", 12_000 - n)})).collect();
    let several = |more: Value| {
        let mut items = json!({"type": "string", "enum": ["a"]});
        items.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"type": "array", "items": items})
    };
    let refused = |schema: &Value| QuestionForm::new(schema.as_object().unwrap()).err();
    for (field, problem) in [
        (several(json!({ "allOf": patterns })), "says `allOf` of its items, which clients do not show"),
        (several(json!({"$defs": {"a": {}}})), "says `$defs` of its items, which clients do not show"),
        (several(json!({"$ref": "#"})), "says `$ref` of its items, which clients do not show"),
        (
            json!({"type": "array", "items": {"anyOf": [{"pattern": "a"}]}}),
            "says `pattern` of a choice, which clients do not show",
        ),
        (json!({"type": "array", "items": {"anyOf": [{"title": "A"}]}}), "has a choice without `const`"),
        (
            json!({"type": "array", "items": {"anyOf": [{"const": {"a": 1}}]}}),
            "has a choice or a default that is not a string",
        ),
        (
            json!({"type": "string", "oneOf": [{"const": "a", "allOf": []}]}),
            "says `allOf` of a choice, which clients do not show",
        ),
        (json!({"type": "string", "oneOf": {"$ref": "#"}}), "has choices that are not a list"),
        (json!({"type": "string", "enum": vec!["a"; 101]}), "has 101 choices, more than 100"),
        (json!({"type": "string", "pattern": "a"}), "says `pattern`, which clients do not show"),
        (json!({"type": "string", "default": "a\u{202e}b"}), HIDES),
        (json!({"type": "string", "title": {"a": 1}}), "has a `title` that is not a string"),
    ] {
        let form = json!({"type": "object", "properties": {"f": field}});
        assert_eq!(refused(&form).as_deref(), Some(&*format!("its field `f` {problem}")), "{form}");
    }
    for (form, problem) in [
        (
            json!({"properties": {}, "additionalProperties": {"$ref": "#"}}),
            "it has `additionalProperties`, which clients do not show",
        ),
        (json!({"properties": {}, "$defs": {}}), "it has `$defs`, which clients do not show"),
        (json!({"$ref": "https://example.com"}), "it has `$ref`, which clients do not show"),
        (json!({"properties": {}, "required": {"$ref": "#"}}), "its `required` is not a list of names"),
    ] {
        assert_eq!(refused(&form).as_deref(), Some(problem), "{form}");
    }
}

#[test]
fn texts_of_forms_are_sanitised() {
    let hidden = "The\u{1b}[2J \u{202e}HOST\n asks\u{200b}:\0 ";
    let form = json!({"type": "object", "title": hidden, "description": hidden, "properties": {
        "a": {"type": "string", "title": hidden, "description": hidden, "enum": ["x"], "enumNames": [hidden]},
        "b": {"type": "string", "oneOf": [{"const": "x", "title": hidden}]},
        "c": {"type": "array", "items": {"anyOf": [{"const": "x", "title": hidden}]}}}});
    let form = QuestionForm::new(form.as_object().unwrap()).unwrap();
    let shown = Value::Object(form.schema().clone()).to_string();
    assert_eq!(shown.matches("The HOST asks:").count(), 7, "{shown}");
    assert_eq!(shown.matches("HOST").count(), 7, "{shown}");
    assert!(is_clean(&shown) && !shown.contains("\\u") && !shown.contains("\\n"), "{shown}");
}

#[test]
fn every_question_for_a_secret_is_refused() {
    for (field, secret) in [
        (json!({"type": "string", "title": "Your GitHub password"}), true),
        (json!({"type": "string", "description": "Paste the API key here."}), true),
        (json!({"type": "string", "title": "ApiKey"}), true),
        (json!({"type": "string", "title": "Pass\u{200b}word"}), true),
        (json!({"type": "string", "description": "the personal access token"}), true),
        (json!({"type": "string", "title": "Passphrase of the SSH key"}), true),
        (json!({"type": "string", "title": "The secretary's name"}), false),
        (json!({"type": "integer", "title": "How many tokens"}), false),
        (json!({"type": "boolean", "title": "Reset the password"}), false),
        (json!({"type": "string", "enum": ["rotate", "keep"], "title": "The old secret"}), false),
    ] {
        let form = json!({"type": "object", "properties": {"f": field}});
        let problem = QuestionForm::new(form.as_object().unwrap()).err();
        assert_eq!(problem.is_some_and(|problem| problem.contains("asks for a secret")), secret, "{form}");
    }
}
