//! Content blocks and their audience.

use loggia_sdk::prelude::*;

#[test]
fn content_has_a_type() {
    let check = |content: Content, expected: Block| assert_eq!(content.block, expected);
    let link = |description: Option<&str>, mime_type: Option<&str>| Block::Link {
        uri: "a:b".into(),
        name: "b".into(),
        description: description.map(Into::into),
        mime_type: mime_type.map(Into::into),
    };
    let resource = |mime_type: Option<&str>, text: Option<&str>, blob: Option<Vec<u8>>| Block::Embedded {
        uri: "a:b".into(),
        mime_type: mime_type.map(Into::into),
        text: text.map(Into::into),
        blob,
    };
    check(Content::text("hello"), Block::Text("hello".into()));
    check(Content::text("hello").mime_type("text/html").description("d"), Block::Text("hello".into()));
    check(
        Content::image([1, 2], "image/png"),
        Block::Image { data: vec![1, 2], mime_type: "image/png".into() },
    );
    check(
        Content::audio(vec![1], "audio/wav"),
        Block::Audio { data: vec![1], mime_type: "audio/wav".into() },
    );
    check(Content::link("a:b", "b"), link(None, None));
    check(
        Content::link("a:b", "b").description("d").mime_type("text/csv"),
        link(Some("d"), Some("text/csv")),
    );
    check(Content::resource("a:b", "text"), resource(None, Some("text"), None));
    check(Content::resource("a:b", String::from("text")), resource(None, Some("text"), None));
    check(Content::resource("a:b", vec![1]).mime_type("x/y"), resource(Some("x/y"), None, Some(vec![1])));
}

#[test]
fn annotations_are_written_as_mcp_knows_them() {
    let check = |content: Content, expected: Value| {
        let extras: Object = content.extras.into_iter().collect();
        assert_eq!(Value::Object(extras), expected);
    };
    let text = || Content::text("hello");
    check(text(), json!({}));
    check(text().audience(Audience::User), json!({"annotations": {"audience": ["user"]}}));
    check(
        text().audience([Audience::User, Audience::Assistant]).priority(0.5),
        json!({"annotations": {"audience": ["user", "assistant"], "priority": 0.5}}),
    );
    check(
        text().audience(Audience::User).audience(Audience::Assistant),
        json!({"annotations": {"audience": ["assistant"]}}),
    );
    check(text().priority(7.0), json!({"annotations": {"priority": 1.0}}));
    check(text().priority(-1.0), json!({"annotations": {"priority": 0.0}}));
    check(text().priority(f64::NAN), json!({}));
    check(
        text()
            .extra("_meta", json!({"a": 1}))
            .extra("annotations", json!({"lastModified": "x"}))
            .priority(1.0),
        json!({"_meta": {"a": 1}, "annotations": {"lastModified": "x", "priority": 1.0}}),
    );
}
