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
fn full_detail_describes_parameters() {
    let reply = world().detail(Detail::Full).call(&Script, "types", json!({"query": "remember"})).unwrap();
    insta::assert_snapshot!(reply.data.as_str().unwrap_or_default());
}

#[test]
fn minimal_detail_leaves_the_header_out() {
    let reply =
        world().detail(Detail::Minimal).call(&Script, "types", json!({"facade": "MEMORIES"})).unwrap();
    assert!(reply.data.as_str().unwrap_or_default().starts_with("type Memories = "), "{reply:?}");
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
    assert!(all_text.len() <= 4000 && all_text.contains("declare const memories"), "{all_text}");
    insta::assert_snapshot!(all.message.unwrap());
    let found = host.call(&Script, "types", json!({"query": "parcel 77", "limit": 1000})).unwrap();
    assert!(found.data.as_str().unwrap_or_default().contains("parcel_77("), "{found:?}");
    insta::assert_snapshot!(found.message.unwrap());
}

#[test]
fn unknown_names_get_the_nearest() {
    let failure = world().call(&Script, "types", json!({"facade": "memory"})).unwrap_err();
    assert_eq!(
        (&*failure.code, failure.hint.as_deref()),
        ("not_found", Some("Did you mean `memories`? Facades: memories, my-files."))
    );
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
