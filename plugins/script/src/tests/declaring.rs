//! `types`.

use super::*;

fn types(arguments: Value) -> Reply<Value> {
    world().call(&Script, "types", arguments).unwrap()
}

fn text(arguments: Value) -> String {
    types(arguments).data.as_str().unwrap_or_default().to_owned()
}

#[test]
fn facades_are_declared_as_typescript() {
    insta::assert_snapshot!(text(json!({})));
}

#[test]
fn chosen_actions_have_their_descriptions() {
    insta::assert_snapshot!(text(json!({"query": "remember"})));
    let facade = text(json!({"query": "MEMORIES"}));
    assert!(facade.contains("title: string /* The fact in one line. */"), "{facade}");
    assert!(!facade.contains("my-files"), "{facade}");
}

#[test]
fn what_does_not_fit_is_named() {
    let mut peer = host::Peer::new("big", "Big", "A large facade.");
    for number in 0..500 {
        peer = peer.action(format!("parcel_{number}"), "Return a parcel.", Effect::Read);
    }
    let host = world().peer(peer);
    let all = host.call(&Script, "types", json!({"limit": 2000})).unwrap();
    let all_text = all.data.as_str().unwrap_or_default();
    assert!(all_text.len() <= 2600 && all_text.contains("declare const memories"), "{all_text}");
    insta::assert_snapshot!(all.message.unwrap());
    let found = host.call(&Script, "types", json!({"query": "parcel 77", "limit": 1000})).unwrap();
    assert!(found.data.as_str().unwrap_or_default().contains("parcel_77("), "{found:?}");
    insta::assert_snapshot!(found.message.unwrap());
}

#[test]
fn a_query_without_matches_says_so() {
    let none = types(json!({"query": "zzz"}));
    insta::assert_snapshot!(none.message.unwrap());
}

#[test]
fn schemas_become_types() {
    use crate::types::render;
    for (schema, expected) in [
        (json!(true), "any"),
        (json!({}), "any"),
        (json!({"type": "integer"}), "number"),
        (json!({"type": ["string", "null"]}), "string | null"),
        (json!({"enum": ["a", 1, null]}), "\"a\" | 1 | null"),
        (json!({"const": {"a": 1}}), "{\"a\":1}"),
        (json!({"type": "array", "items": {"type": ["string", "null"]}}), "(string | null)[]"),
        (json!({"type": "array"}), "any[]"),
        (json!({"type": "object"}), "Record<string, any>"),
        (json!({"type": "object", "additionalProperties": {"type": "number"}}), "Record<string, number>"),
        (json!({"type": "object", "additionalProperties": false}), "{}"),
        (json!({"anyOf": [{"type": "string"}, {"type": "string"}, {"type": "null"}]}), "string | null"),
        (json!({"oneOf": [{}, {"type": "null"}]}), "any"),
        (
            json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "object", "properties": {"b": {}}}]}),
            "{ a?: string } & { b?: any }",
        ),
        (json!({"$ref": "#/$defs/N", "$defs": {"N": {"type": "number"}}}), "number"),
        (json!({"$ref": "#/$defs/none"}), "any"),
        (
            json!({"type": "object", "properties": {"a-b": {"type": "string"}, "c": {"type": "boolean"}}, "required": ["c"]}),
            "{ \"a-b\"?: string; c: boolean }",
        ),
    ] {
        assert_eq!(render(&schema), expected, "{schema}");
    }
    let recursive = json!({"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "properties": {"next": {"$ref": "#/$defs/T"}}}}});
    assert_eq!(render(&recursive), "{ next?: { next?: { next?: any } } }");
}
