//! Tests of results, as upstreams send them.

use loggia_facade::{Block, Failure, Reply, code};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    adapt::{AdaptedTools, ServerProfile, adapt_tools},
    spec::{StdioSpec, TransportSpec, UpstreamSpec},
};

fn tools() -> AdaptedTools {
    let spec = UpstreamSpec::new("up", TransportSpec::Stdio(StdioSpec::default()));
    let tools = [
        json!({"name": "gh_list", "inputSchema": {"properties": {"action": {}, "owner": {}}}}),
        json!({"name": "gh_get"}),
    ];
    adapt_tools(&spec, &ServerProfile::default(), &tools).expect("tools")
}

fn reply(result: Value) -> Reply {
    read_result(&result, &tools()).unwrap_or_else(|failure| panic!("{result}: {failure}"))
}

fn failure(result: Value) -> Failure {
    read_result(&result, &tools()).expect_err("a failure")
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn results_become_data() {
    for (result, data, blocks) in [
        (json!({"content": [text("plain")]}), json!("plain"), 0),
        (json!({"content": [text("{\"a\": 1}")]}), json!({"a": 1}), 0),
        (json!({"content": [text(" [1, 2]")]}), json!([1, 2]), 0),
        (json!({"content": [text("{broken")]}), json!("{broken"), 0),
        (json!({"content": [text("7")]}), json!("7"), 0),
        (json!({"content": [text("a"), text("[1]")]}), json!(["a", [1]]), 0),
        (json!({"content": []}), json!(null), 0),
        (json!({"content": [text("{\"a\":1}")], "structuredContent": {"a": 1}}), json!({"a": 1}), 0),
        (json!({"structuredContent": {"a": 1}}), json!({"a": 1}), 0),
        (
            json!({"content": [text("True")], "structuredContent": {"result": true}}),
            json!({"result": true}),
            0,
        ),
        (
            json!({"content": [text("x"), text("y")], "structuredContent": {"result": ["x", "y"]}}),
            json!({"result": ["x", "y"]}),
            0,
        ),
        (json!({"content": [text("[1]")], "structuredContent": {"items": [1]}}), json!({"items": [1]}), 0),
        // A text that says more stays.
        (json!({"content": [text("look")], "structuredContent": {"a": 1}}), json!({"a": 1}), 1),
    ] {
        let reply = reply(result.clone());
        assert_eq!(
            (reply.data.into_value(), reply.content.len(), reply.message),
            (data, blocks, None),
            "{result}"
        );
    }
}

#[test]
fn other_content_passes() {
    let reply = reply(json!({"content": [
        {"type": "image", "data": "aGk", "mimeType": "image/png", "annotations": {"priority": 1}, "other": 5},
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a://b", "text": "t"}},
        {"type": "resource", "resource": {"uri": "a://b", "blob": "aGk=", "mimeType": "x/y"}},
        {"type": "resource_link", "uri": "a://b", "name": "n"},
        {"type": "image", "data": "!", "mimeType": "image/png"},
        {"type": "novel"},
        7,
    ]}));
    let blocks: Vec<_> = reply.content.iter().map(|content| content.block.clone()).collect();
    let link = Block::Link { uri: "a://b".into(), name: "n".into(), description: None, mime_type: None };
    assert_eq!(blocks[0], Block::Image { data: b"hi".into(), mime_type: "image/png".into() });
    assert_eq!(Value::Object(reply.content[0].extras.clone()), json!({"annotations": {"priority": 1}}));
    assert_eq!((blocks.len(), &blocks[4]), (5, &link));
    assert_eq!(
        reply.message.as_deref(),
        Some("3 content blocks of the upstream's result are malformed and left out")
    );
}

#[test]
fn errors_become_failures() {
    let failed = failure(
        json!({"isError": true, "content": [text("no\u{1b}[31m such"), text("file")], "structuredContent": {"why": 1}}),
    );
    assert_eq!((failed.code.as_str(), failed.message.as_str()), (UPSTREAM_ERROR, "no such\nfile"));
    assert_eq!(failed.details, Some(json!({"why": 1})));
    assert_eq!(failure(json!({"isError": true})).message, "the upstream reports a failure without a reason");
    assert!(failure(json!({"isError": true, "content": [text(&"x".repeat(1 << 20))]})).message.len() <= 4096);
    assert_eq!(failure_of_error(-32602, "Unknown tool").code, code::INVALID_PARAMS);
    assert_eq!(failure_of_error(-32603, "").code, UPSTREAM_ERROR);
}

#[test]
fn malformed_results_are_failures() {
    for result in [
        json!({}),
        json!(null),
        json!([]),
        json!("text"),
        json!({"content": "text"}),
        json!({"content": null}),
    ] {
        assert_eq!(failure(result).code, code::INTERNAL);
    }
}

#[test]
fn proposed_calls_name_tools_of_the_same_upstream() {
    let next = |next: Value| {
        reply(json!({"content": [], "_meta": {"nextTool": next}})).next.map(|next| next.to_json())
    };
    let expected =
        json!({"tool": "up", "arguments": {"action": "list", "owner": "o", "arguments": {"action": "x"}}});
    assert_eq!(
        next(json!({"tool": "gh_list", "arguments": {"owner": "o", "action": "x"}})),
        Some(expected.clone())
    );
    assert_eq!(next(json!({"name": "gh_list", "parameters": {"owner": "o", "action": "x"}})), Some(expected));
    for bad in [json!({"tool": "other"}), json!({"tool": "gh_get", "arguments": 5}), json!(5), json!({})] {
        assert_eq!(next(bad), None);
    }
    let prefixed =
        json!({"isError": true, "_meta": {"org.example/nextTool": {"tool": "gh_get", "reason": "a\nb"}}});
    assert_eq!(
        failure(prefixed).next.expect("a call").to_json(),
        json!({"tool": "up", "arguments": {"action": "get"}, "reason": "a b"})
    );
}

fn results() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        prop::sample::select(vec!["text", "image", "resource", "{\"a\":[1]}", "aGk=", "gh_get"])
            .prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "content",
        "structuredContent",
        "isError",
        "_meta",
        "nextTool",
        "tool",
        "arguments",
        "type",
        "text",
        "data",
        "mimeType",
        "resource",
        "uri",
        "blob",
        "name",
        "annotations",
    ]);
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec((keys.clone(), inner.clone()), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
            prop::collection::vec(inner, 0..4).prop_map(Value::Array),
        ]
    })
}

proptest! {
    /// Any JSON is a reply or a failure.
    #[test]
    fn any_result_is_read(result in results()) {
        let read = read_result(&result, &tools());
        prop_assert!(read.is_ok() || read.is_err_and(|failure| !failure.message.is_empty()));
    }
}
