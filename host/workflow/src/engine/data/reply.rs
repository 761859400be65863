//! Conversion of a reply into the step's entry in the context.

use std::collections::HashMap;

use loggia_facade::{Block, Object, Reply};
use serde_json::{Value, json};

use crate::engine::state::context;

/// Converts a reply into a completed entry: `output`, `content` and paging fields.
pub(crate) fn to_entry(reply: Reply) -> Object {
    let Reply { data, message, page, content: blocks, .. } = reply;
    let data = data.into_value();
    let mut content = Object::new();
    let mut counts = HashMap::new();
    for block in &blocks {
        if let Some((kind, value)) = content_value(&block.block) {
            let number = counts.entry(kind).or_insert(0usize);
            content.insert(content_name(kind, *number), value);
            *number += 1;
        }
    }
    // The text that an MCP client would show.
    let text = match (content.get("text"), &data, &message) {
        (Some(text), ..) => Some(text.clone()),
        (None, Value::Null, None) => None,
        (None, Value::Null, Some(message)) => Some(message.clone().into()),
        (None, Value::String(text), _) => Some(text.clone().into()),
        (None, data, _) => Some(data.to_string().into()),
    };
    if let Some(text) = &text {
        content.entry("text").or_insert_with(|| text.clone());
    }
    let output = match data {
        Value::Object(data) => Value::Object(data),
        Value::Null => Value::Object(content.clone()),
        data => json!({"text": text, "data": data}),
    };
    let mut entry = context::completed_entry(output, Value::Object(content));
    let mut beside = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            entry.insert(name.to_owned(), value);
        }
    };
    beside("message", message.map(Value::from));
    let page = page.unwrap_or_default();
    beside("count", page.count.map(Value::from));
    beside("total", page.total.map(Value::from));
    beside("cursor", page.cursor.map(Value::from));
    entry
}

/// Converts a content block under ToolHive's name. Media contribute only their size, to keep contexts small.
fn content_value(block: &Block) -> Option<(&'static str, Value)> {
    let media = |mime: &str, bytes: usize| json!({"mimeType": mime, "bytes": bytes});
    Some(match block {
        Block::Text(text) => ("text", text.clone().into()),
        Block::Image { data, mime_type } => ("image", media(mime_type, data.len())),
        Block::Audio { data, mime_type } => ("audio", media(mime_type, data.len())),
        Block::Embedded { text: Some(text), .. } => ("resource", text.clone().into()),
        Block::Embedded { mime_type, blob, .. } => {
            let bytes = blob.as_ref().map_or(0, Vec::len);
            ("resource", media(mime_type.as_deref().unwrap_or("application/octet-stream"), bytes))
        }
        Block::Link { .. } => return None,
    })
}

/// Returns ToolHive's name for a block: `text`, `text_1`; `image_0`, `image_1`; `resource`, `resource_1`.
fn content_name(kind: &str, number: usize) -> String {
    match (kind, number) {
        ("text" | "resource", 0) => kind.to_owned(),
        _ => format!("{kind}_{number}"),
    }
}

#[cfg(test)]
mod tests {
    use loggia_facade::{Content, Page};

    use super::*;

    fn check(reply: Reply, expected: Value) {
        assert_eq!(Value::Object(to_entry(reply)), expected);
    }

    fn with(data: Value, blocks: Vec<Block>) -> Reply {
        let content = blocks.into_iter().map(|block| Content { block, extras: Object::new() }).collect();
        Reply { data: data.into(), content, ..Reply::default() }
    }

    #[test]
    fn data_is_the_output_and_text_the_content() {
        let text = |text: &str| Block::Text(text.into());
        let done = |output: Value, content: Value| json!({"status": "completed", "output": output, "content": content});
        check(with(json!({"a": 1}), vec![]), done(json!({"a": 1}), json!({"text": "{\"a\":1}"})));
        // Case 7: both exist, independent of each other.
        check(
            with(json!({"text": "structured"}), vec![text("content")]),
            done(json!({"text": "structured"}), json!({"text": "content"})),
        );
        check(
            with(json!([1, 2]), vec![]),
            done(json!({"text": "[1,2]", "data": [1, 2]}), json!({"text": "[1,2]"})),
        );
        check(with(json!("hi"), vec![]), done(json!({"text": "hi", "data": "hi"}), json!({"text": "hi"})));
        check(
            with(json!(3), vec![text("three")]),
            done(json!({"text": "three", "data": 3}), json!({"text": "three"})),
        );
        check(with(Value::Null, vec![]), done(json!({}), json!({})));
        let texts = json!({"text": "a", "text_1": "b", "text_2": "c"});
        check(with(Value::Null, vec![text("a"), text("b"), text("c")]), done(texts.clone(), texts));
    }

    #[test]
    fn media_is_reduced_to_type_and_size() {
        let image = || Block::Image { data: vec![0; 9], mime_type: "image/png".into() };
        let embedded = |text: Option<&str>| Block::Embedded {
            uri: "file:///a".into(),
            mime_type: None,
            text: text.map(str::to_owned),
            blob: text.is_none().then(|| vec![0; 4]),
        };
        let blocks = vec![image(), image(), embedded(Some("cases 8 and 31")), embedded(None)];
        let expected = json!({"image_0": {"mimeType": "image/png", "bytes": 9}, "image_1": {"mimeType": "image/png", "bytes": 9},
            "resource": "cases 8 and 31", "resource_1": {"mimeType": "application/octet-stream", "bytes": 4}});
        check(
            with(Value::Null, blocks),
            json!({"status": "completed", "output": expected, "content": expected}),
        );
    }

    #[test]
    fn message_and_paging_are_kept() {
        let reply = Reply {
            data: json!({}).into(),
            message: Some("Found three.".into()),
            page: Some(Page { count: Some(2), total: Some(3), cursor: Some("c".into()) }),
            ..Reply::default()
        };
        check(
            reply,
            json!({"status": "completed", "output": {}, "content": {"text": "{}"}, "message": "Found three.",
                "count": 2, "total": 3, "cursor": "c"}),
        );
        let said = Reply { message: Some("Done.".into()), ..Reply::default() };
        check(
            said,
            json!({"status": "completed", "output": {"text": "Done."}, "content": {"text": "Done."}, "message": "Done."}),
        );
    }
}
