//! Every failure of validation, as the caller reads it.

use std::{fmt::Write as _, sync::Arc};

use loggia_facade::Failure;
use serde_json::{Value, json};

use crate::{contract::build::Contract, tests::fixture};

fn refuse(contract: &Contract, action: &str, sent: &Value) -> Failure {
    let params = sent.as_object().unwrap().clone();
    match contract.prepare(contract.action(action).unwrap(), params) {
        Err(failure) => failure,
        Ok(prepared) => panic!("{sent} was accepted as {:?}", prepared.params),
    }
}

/// The failure for one parameter `p`; `null` sends none.
fn explained(schema: Value, sent: Value) -> String {
    let contract = Contract::new(Arc::new(fixture::one(json!({"p": schema}), json!([])))).unwrap();
    let failure = refuse(&contract, "go", &json!({"p": sent}));
    match failure.hint {
        Some(hint) => format!("{}\n    hint: {hint}", failure.message),
        None => failure.message,
    }
}

/// Keywords of JSON Schema 2020-12 that can refuse a value.
const KEYWORDS: [&str; 39] = [
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "items",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "propertyNames",
    "patternProperties",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
    "unevaluatedItems",
    "x-hint",
];

#[test]
fn every_keyword_is_explained() {
    let circle = json!({"type": "object", "required": ["kind", "r"], "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}});
    let square = json!({"type": "object", "required": ["kind", "a"], "properties": {"kind": {"const": "square"}, "a": {"type": "number"}}});
    let tagged = json!({"oneOf": [circle, square]});
    let mut out = String::new();
    for (schema, sent) in [
        (json!({"type": "string"}), json!(5)),
        (json!({"type": "integer"}), json!("five")),
        (json!({"type": "integer"}), json!(5.5)),
        (json!({"type": "number"}), json!({"a": 1})),
        (json!({"type": "boolean"}), json!("yes")),
        (json!({"type": "array"}), json!("a, b")),
        (json!({"type": "object"}), json!([1])),
        (json!({"type": ["string", "integer", "null"]}), json!(true)),
        (json!({"type": "string", "enum": ["xs", "s", "m", "l"]}), json!("standard")),
        (json!({"type": "string", "enum": ["small", "large"]}), json!("smal")),
        (json!({"enum": ["a b", "true", "c", null]}), json!(1)),
        (json!({"enum": [1, 2, 3]}), json!(4)),
        (json!({"type": "string", "const": "yes"}), json!("no")),
        (json!({"type": "integer", "minimum": 1}), json!(0)),
        (json!({"type": "integer", "maximum": 50}), json!(99)),
        (json!({"type": "integer", "maximum": 50}), json!("99")),
        (json!({"exclusiveMinimum": 0}), json!(0)),
        (json!({"exclusiveMaximum": 1}), json!(1.5)),
        (json!({"multipleOf": 5}), json!(7)),
        (json!({"multipleOf": 0.25}), json!(0.3)),
        (json!({"minLength": 1}), json!("")),
        (json!({"minLength": 3}), json!("äb")),
        (json!({"maxLength": 5}), json!("too long a text")),
        (json!({"pattern": "^n_[0-9]+$"}), json!("17")),
        (json!({"format": "date"}), json!("tomorrow")),
        (json!({"format": "date-time"}), json!("2026-01-31")),
        (json!({"format": "email"}), json!("ada")),
        (json!({"format": "uri"}), json!("not a uri")),
        (json!({"format": "uuid"}), json!("123")),
        (json!({"format": "ipv4"}), json!("1.2.3")),
        (json!({"format": "hostname"}), json!("-")),
        (json!({"minItems": 1}), json!([])),
        (json!({"minItems": 2}), json!([1])),
        (json!({"maxItems": 1}), json!([1, 2, 3])),
        (json!({"uniqueItems": true}), json!(["a", "b", "a"])),
        (json!({"items": {"type": "integer"}}), json!([1, "two"])),
        (json!({"prefixItems": [{"type": "integer"}], "items": false}), json!([1, 2])),
        (json!({"contains": {"type": "integer"}}), json!(["a"])),
        (json!({"contains": {"type": "integer", "minimum": 5}}), json!([1])),
        (json!({"contains": {"minimum": 5}}), json!([1])),
        (json!({"contains": {"const": 1}, "minContains": 2}), json!([1])),
        (json!({"contains": {"const": 1}, "maxContains": 1}), json!([1, 1])),
        (json!({"contains": {"type": "string"}, "minContains": 1, "maxContains": 2}), json!(["a", "b", "c"])),
        (json!({"contains": {"type": "string"}, "minContains": 2, "maxContains": 3}), json!(["a"])),
        (json!({"type": "object", "required": ["a"]}), json!({})),
        (
            json!({"type": "object", "properties": {"title": {}}, "additionalProperties": false}),
            json!({"titel": 1}),
        ),
        (json!({"additionalProperties": {"type": "integer"}}), json!({"a b": "x"})),
        (json!({"patternProperties": {"^x-": {"type": "integer"}}}), json!({"x-a": "x"})),
        (json!({"propertyNames": {"pattern": "^[a-z]+$"}}), json!({"A1": 1})),
        (json!({"minProperties": 1}), json!({})),
        (json!({"maxProperties": 1}), json!({"a": 1, "b": 2})),
        (json!({"dependentRequired": {"from": ["to"]}}), json!({"from": 1})),
        (json!({"dependentSchemas": {"from": {"required": ["to"]}}}), json!({"from": 1})),
        (
            json!({"dependentSchemas": {"from": {"properties": {"to": {"minimum": 2}}}}}),
            json!({"from": 1, "to": 1}),
        ),
        (json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), json!(true)),
        (json!({"anyOf": [{"type": "string", "minLength": 3}, {"type": "integer"}]}), json!("ab")),
        (json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}), json!({})),
        (json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}), json!({"a": 1, "b": 2})),
        (json!({"oneOf": [{"type": "integer"}, {"minimum": 2}]}), json!(3)),
        (tagged.clone(), json!({"kind": "circle"})),
        (tagged.clone(), json!({"kind": "line", "r": 1})),
        (tagged.clone(), json!({"kind": "square", "a": "x"})),
        (tagged.clone(), json!({})),
        (tagged, json!("circle")),
        (json!({"allOf": [{"minimum": 1}, {"maximum": 5}]}), json!(9)),
        (json!({"not": {"enum": ["root", "admin"]}, "type": "string"}), json!("root")),
        (json!({"not": {"required": ["a", "b"]}}), json!({"a": 1, "b": 2})),
        (json!({"not": {"pattern": "^/"}}), json!("/etc")),
        (json!({"not": {"type": "integer"}}), json!(1)),
        (json!({"not": {"minimum": 5}}), json!(7)),
        (json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}}), json!({"a": 1})),
        (json!({"if": {"required": ["a"]}, "else": {"required": ["b"]}}), json!({})),
        (
            json!({"if": {"properties": {"kind": {"const": "circle"}}}, "then": {"properties": {"r": {"minimum": 1}}},
                "else": {"required": ["side"]}}),
            json!({"kind": "circle", "r": 0}),
        ),
        (
            json!({"if": {"properties": {"kind": {"enum": ["circle", "disc"]}}}, "else": {"required": ["side"]}}),
            json!({"kind": "square"}),
        ),
        (json!({"if": {"minimum": 5}, "then": {"multipleOf": 5}}), json!(6)),
        (json!({"properties": {"a": false}}), json!({"a": 1})),
        (json!({"properties": {"a": {}}, "unevaluatedProperties": false}), json!({"b": 1})),
        (json!({"unevaluatedProperties": {"type": "integer"}}), json!({"b": "x"})),
        (json!({"prefixItems": [{}], "unevaluatedItems": false}), json!([1, 2])),
        (json!({"prefixItems": [{}], "unevaluatedItems": {"type": "integer"}}), json!([1, "x"])),
        (json!({"prefixItems": [{"type": "integer"}, {"type": "string"}]}), json!([1, 2])),
        (
            json!({"items": {"type": "array", "items": {"properties": {"name": {"type": "string"}}}}}),
            json!([[], [{}, {"name": 1}]]),
        ),
        (json!({"maxItems": 2, "minItems": 2}), json!([1])),
        (
            json!({"type": "string", "enum": (0..256).map(|n| format!("value-{n}")).collect::<Vec<_>>()}),
            json!("x"),
        ),
        (json!({"const": null}), json!(1)),
        (json!({"type": "null"}), json!(1)),
        (json!(false), json!(1)),
        (json!({"type": "integer", "maximum": 9, "x-hint": "Take a small one."}), json!(10)),
        (json!({"type": "integer", "maximum": 9, "when_to_change": "When nine is too many."}), json!(10)),
        (json!({"type": "integer", "maximum": 9, "x-when-to-change": "When nine is too many."}), json!(10)),
        (
            json!({"type": "integer", "maximum": 9, "details": {"when_to_change": "When nine is too many."}}),
            json!(10),
        ),
        (
            json!({"type": "integer", "maximum": 9, "x-details": {"when_to_change": "When nine is too many."}}),
            json!(10),
        ),
        (
            json!({"maximum": 9, "x-hint": "Take a small one.", "x-when-to-change": "When nine is too many."}),
            json!(10),
        ),
        (json!({"items": {"type": "string"}, "x-hint": "Names of tags."}), json!([1])),
        (json!({"type": "string", "maxLength": 4, "writeOnly": true}), json!("s3cret")),
        (json!({"type": "string", "pattern": "^k", "format": "password"}), json!("s3cret")),
        (json!({"type": "string", "enum": ["secret"], "x-secret": true}), json!("s3cret")),
        (json!({"type": "string"}), json!(vec!["long"; 200])),
    ] {
        let _ =
            writeln!(out, "{}\n  {}", crate::text::show::json(&schema, 300), explained(schema.clone(), sent));
    }
    assert!(!out.contains("3cret"), "{out}");
    for keyword in KEYWORDS {
        assert!(out.contains(&format!("\"{keyword}\":")), "`{keyword}` is not tried");
    }
    insta::assert_snapshot!("keywords", out);
}

#[test]
fn failures_show_signature_and_example() {
    let contract = Contract::new(Arc::new(fixture::notes())).unwrap();
    let mut out = String::new();
    for (action, sent) in [
        ("add", json!({})),
        ("add", json!({"titel": "x", "tags": "a", "depth": "s"})),
        ("search", json!({"query": "milk", "depth": "standard"})),
        (
            "search",
            json!({"query": "", "limit": 99, "depth": "standard", "since": "now", "id": 1, "x": 1, "y": 2}),
        ),
        ("search", json!({"qurey": "milk"})),
        ("search", json!({"query": "milk", "limt": 5})),
        ("get", json!({"id": 17})),
        ("delete", json!({"id": null})),
    ] {
        let failure = refuse(&contract, action, &sent);
        let _ = writeln!(out, "{action} {sent}\n  [{}] {}", failure.code, failure.message);
        for (what, text) in [
            ("hint", failure.hint),
            ("expected", failure.expected),
            ("example", failure.example.map(|example| example.to_string())),
        ] {
            let _ = writeln!(out, "  {what}: {}", text.as_deref().unwrap_or("-"));
        }
    }
    insta::assert_snapshot!("failures", out);
}

#[test]
fn nested_violations_name_their_path() {
    let schema = json!({"type": "array", "items": {"type": "object", "required": ["title"], "additionalProperties": false,
        "properties": {"title": {"type": "string"}, "a b": {"type": "object", "properties": {"c.d": {"type": "integer"}}}}}});
    let contract = Contract::new(Arc::new(fixture::one(json!({"notes": schema}), json!([])))).unwrap();
    for (sent, expected) in [
        (json!([{"title": "x"}, {}]), "`notes[1].title` is required"),
        (json!([{"title": 1}]), "`notes[0].title` must be a string (got 1)"),
        (
            json!([{"title": "x", "a b": {"c.d": []}}]),
            r#"`notes[0]["a b"]["c.d"]` must be an integer (got [])"#,
        ),
        (
            json!([{"titel": "x"}]),
            "`notes[0].title` is required; `notes[0]` has no member `titel` (did you mean `title`?)",
        ),
    ] {
        assert_eq!(refuse(&contract, "go", &json!({"notes": sent})).message, expected);
    }
}

#[test]
fn alternatives_at_the_root_are_explained_without_false_errors() {
    let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}},
        "oneOf": [
            {"properties": {"id": {"type": "string"}}, "required": ["id"]},
            {"properties": {"name": {"type": "string"}}, "required": ["name"]}]});
    let contract =
        Contract::new(Arc::new(fixture::surface("one", vec![fixture::action("go", schema)]))).unwrap();
    for (sent, expected) in [
        (json!({"x": 1}), "one of `id` or `name` is required"),
        (json!({"id": "a", "name": "b"}), "the call must have only one of `id` and `name`"),
        (json!({"id": "a", "nme": "b"}), "`nme` is not a parameter of `go` (did you mean `name`?)"),
        (json!({"id": 1}), "`id` must be a string (got 1)"),
    ] {
        assert_eq!(refuse(&contract, "go", &sent).message, expected, "{sent}");
    }
    assert_eq!(
        contract
            .prepare(contract.action("go").unwrap(), json!({"name": "b"}).as_object().unwrap().clone())
            .unwrap()
            .params["name"],
        "b"
    );
}

#[test]
fn secrets_are_never_shown() {
    let contract = Contract::new(Arc::new(fixture::settings())).unwrap();
    for sent in [
        json!({"token": 77_665_544}),
        json!({"token": ["77665544"]}),
        json!({"token": ""}),
        json!({"keys": [77_665_544]}),
        json!({"keys": {"a": "77665544"}}),
        json!({"keys": "77665544"}),
        json!({"keys": "[77665544]"}),
    ] {
        let failure = refuse(&contract, "set", &sent);
        let text = format!("{failure:?}");
        assert!(!text.contains("77665544") && !text.contains("got"), "{text}");
    }
}

#[test]
fn enclosing_values_are_shown_without_secrets() {
    let secret = json!({"type": "string", "writeOnly": true});
    let login = json!({"type": "object", "required": ["name", "pin"], "additionalProperties": false,
        "properties": {"name": {"type": "string"}, "pin": secret, "keys": {"type": "object", "x-secret": true,
            "additionalProperties": {"type": "integer"}}}});
    let properties = json!({"login": login, "logins": {"type": "array", "maxItems": 2, "uniqueItems": true, "items": login},
        "either": {"oneOf": [{"type": "integer"}, {"type": "object", "properties": {"pin": secret}, "required": ["pin", "x"]}]},
        "never": {"type": "object", "not": {"required": ["pin"]}, "properties": {"pin": secret, "open": {"type": "string"}}},
        "map": {"type": "object", "additionalProperties": {"type": "string", "format": "password", "maxLength": 3}},
        "plain": {"type": "string"}});
    let contract = Contract::new(Arc::new(fixture::one(properties, json!([])))).unwrap();
    let mut out = String::new();
    for sent in [
        json!({"login": {"name": 5, "pin": "77665544"}}),
        json!({"login": {"name": "ada", "pin": 77_665_544}}),
        json!({"login": {"name": "ada", "pni": "77665544"}}),
        json!({"login": {"name": "ada", "pin": "x", "keys": {"77665544": "x"}}}),
        json!({"login": {"name": "ada", "pin": "x", "keys": {"a": {"77665544": 1}}}}),
        json!({"login": ["77665544"]}),
        json!({"login": "{\"name\": \"ada\", \"pin\": \"77665544\""}),
        json!({"logins": [{"name": "ada", "pin": "77665544"}, {"name": "ada", "pin": "77665544"}]}),
        json!({"logins": [[{"pin": "77665544"}]]}),
        json!({"either": {"pin": "77665544"}}),
        json!({"either": "a 77665544"}),
        json!({"never": {"pin": "77665544", "open": "shown"}}),
        json!({"map": {"a": "77665544"}}),
        json!({"map": ["77665544"]}),
        json!({"plain": 5, "77665544": 1}),
    ] {
        let Failure { message, hint, .. } = refuse(&contract, "go", &sent);
        assert!(!message.contains("77665544") || sent.get("77665544").is_some(), "{sent}\n{message}");
        assert!(!hint.unwrap_or_default().contains("77665544"), "{sent}");
        let _ = writeln!(out, "{sent}\n  {message}");
    }
    insta::assert_snapshot!("secrets", out);
    // Failures for long or coerced values hide their secrets, too.
    let sent = json!({"login": "{\"name\": \"ada\", \"pin\": \"77665544\"}"}).as_object().unwrap().clone();
    let prepared = contract.prepare(contract.action("go").unwrap(), sent).unwrap();
    assert_eq!(Value::Object(prepared.resolved), json!({"login": {"name": "ada", "pin": "(redacted)"}}));
}

#[test]
fn parameters_of_other_actions_are_attributed() {
    let contract = Contract::new(Arc::new(fixture::notes())).unwrap();
    let message = |action: &str, sent: Value| refuse(&contract, action, &sent).message;
    assert_eq!(
        message("get", json!({"id": "n_1", "query": "x"})),
        "`query` is not a parameter of `get` (it belongs to `search`)"
    );
    assert_eq!(
        message("get", json!({"id": "n_1", "limit": 5})),
        "`limit` is not a parameter of `get` (it belongs to `search` and `list`)"
    );
    assert_eq!(message("get", json!({"id": "n_1", "zzz": 5})), "`zzz` is not a parameter of `get`");
    assert_eq!(
        message("search", json!({"query": "x", "tags": ["a"]})),
        "`tags` is not a parameter of `search` (it belongs to `add` and `list`)"
    );
    assert_eq!(
        message("get", json!({"id": "n_1", "details": "full"})),
        "`details` is not a parameter of `get` (did you mean `detail`?)"
    );
    assert_eq!(
        message("get", json!({"id": "n_1", "of": "get"})),
        "`of` is not a parameter of `get` (it belongs to `describe`)"
    );
    for (sent, near) in [("Query", "query"), ("QUERY", "query"), ("qeury", "query"), ("query_", "query")] {
        let message = message("search", json!({sent: "milk"}));
        assert!(message.contains(&format!("(did you mean `{near}`?)")), "{message}");
    }
}

#[test]
fn many_violations_are_counted_and_large_values_cut() {
    let contract = Contract::new(Arc::new(fixture::one(json!({}), json!([])))).unwrap();
    let sent: serde_json::Map<_, _> =
        (0..1000).map(|i| (format!("{}{i}", "x".repeat(1000)), json!(i))).collect();
    let failure = refuse(&contract, "go", &sent.into());
    assert!(failure.message.ends_with("; and perhaps more"), "{}", failure.message);
    assert!(failure.message.len() < 1000, "{}", failure.message);
    let sent: serde_json::Map<_, _> = (0..9).map(|i| (format!("x{i}"), json!(i))).collect();
    assert!(refuse(&contract, "go", &sent.into()).message.ends_with("; and 4 more"));
    let list = json!({"type": "array", "items": {"type": "string"}});
    let contract = Contract::new(Arc::new(fixture::one(json!({"p": list}), json!([])))).unwrap();
    let failure = refuse(&contract, "go", &json!({"p": vec![1; 300_000]}));
    assert_eq!(failure.message, "`p[0]` must be a string (got 1); and perhaps more");
    let contract =
        Contract::new(Arc::new(fixture::one(json!({"p": {"type": "integer"}}), json!([])))).unwrap();
    let failure = refuse(&contract, "go", &json!({"p": "9".repeat(1 << 20)}));
    assert!(failure.message.chars().count() < 150, "{}", failure.message);
}

#[test]
fn deeply_nested_parameters_are_refused() {
    let mut deep = json!(1);
    for _ in 0..120 {
        deep = json!([deep]);
    }
    let contract = Contract::new(Arc::new(fixture::one(json!({"p": true}), json!([])))).unwrap();
    assert_eq!(
        refuse(&contract, "go", &json!({"p": deep})).message,
        "the parameters nest deeper than 64 levels"
    );
}
