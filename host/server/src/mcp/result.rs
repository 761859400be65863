//! Converts an envelope to an MCP result.
//!
//! Some clients show a model only `structuredContent`, others only the text, so for clients of which nothing is known both carry
//! the whole envelope. The others get the text alone, which all of them read where there is nothing else. If a reply has media, `structuredContent` is omitted, because clients of the first kind would hide the media, unless an output
//! schema promises it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use loggia_facade::{Block, Content, Envelope};
use loggia_gate::catalog::CatalogSnapshot;
use loggia_policy::clients::ResultForm;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::json;

use super::{
    view::ClientView,
    wire::{share_text, unshare_text},
};

/// Converts the envelope of a call of `tool`. `next` is addressed as the client has to call it.
pub fn to_result(
    envelope: Envelope,
    snapshot: &CatalogSnapshot,
    tool: &str,
    view: ClientView,
) -> CallToolResult {
    let mut result = to_shared_result(envelope, snapshot, tool, view);
    unshare_text(&mut result);
    result
}

/// [`to_result`] for a writer that makes both contents of one text ([`share_text`]).
pub fn to_shared_result(
    mut envelope: Envelope,
    snapshot: &CatalogSnapshot,
    tool: &str,
    view: ClientView,
) -> CallToolResult {
    // Clients reject a result without structured content if the tool has an output schema.
    let tools = &snapshot.list(view.list).tools;
    let of_facade = || tools.values().find(|other| other.facade == tool);
    let called = tools.get(tool).or_else(of_facade);
    let promised = called.is_some_and(|tool| tool.published.output_schema.is_some());
    let is_error = !envelope.is_ok();
    let next = envelope.take_next().map(|next| snapshot.address_next(view.list, &next));
    let (text, content) = envelope.into_text(next.as_ref());
    let meta = next.map(|next| {
        let mut meta = MetaObject::new();
        meta.insert("loggia/nextTool".into(), next.clone());
        meta.insert("nextTool".into(), next);
        meta
    });
    let mut blocks = vec![ContentBlock::text(text)];
    let media = content.iter().any(|content| !matches!(content.block, Block::Text(_)));
    blocks.extend(content.into_iter().map(to_content_block));
    let mut result = if is_error { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) };
    if (!media && view.client.result == ResultForm::Both) || promised {
        share_text(&mut result);
    }
    result.meta = meta;
    result
}

fn to_content_block(content: Content) -> ContentBlock {
    let mut value = match content.block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Image { data, mime_type } => {
            json!({ "type": "image", "data": STANDARD.encode(data), "mimeType": mime_type })
        }
        Block::Audio { data, mime_type } => {
            json!({ "type": "audio", "data": STANDARD.encode(data), "mimeType": mime_type })
        }
        Block::Embedded { uri, mime_type, text, blob } => {
            let mut resource = json!({ "uri": uri });
            if let Some(mime_type) = mime_type {
                resource["mimeType"] = mime_type.into();
            }
            match (text, blob) {
                (None, Some(blob)) => resource["blob"] = STANDARD.encode(blob).into(),
                (text, _) => resource["text"] = text.unwrap_or_default().into(),
            }
            json!({ "type": "resource", "resource": resource })
        }
        Block::Link { uri, name, description, mime_type } => {
            let mut link = json!({ "type": "resource_link", "uri": uri, "name": name });
            for (key, value) in [("description", description), ("mimeType", mime_type)] {
                if let Some(value) = value {
                    link[key] = value.into();
                }
            }
            link
        }
    };
    let plain = value.clone();
    for key in ["annotations", "_meta"] {
        if let Some(extra) = content.extras.get(key) {
            value[key] = extra.clone();
        }
    }
    // A plugin's annotations may be anything; a block whose annotations MCP does not know goes without them.
    serde_json::from_value(value)
        .or_else(|_| serde_json::from_value(plain))
        .unwrap_or_else(|_| ContentBlock::text("(a content block that MCP has no form for)"))
}

#[cfg(test)]
mod tests {
    use loggia_facade::{Command, Failure, Next, Object, Reply, code};
    use serde_json::Value;

    use super::*;
    use crate::mcp::view::ServedEndpoint;

    fn of(outcome: Result<Reply, Failure>) -> Value {
        rendered(outcome, ClientView::default())
    }

    fn rendered(outcome: Result<Reply, Failure>, view: ClientView) -> Value {
        let envelope = Envelope::new(Command::action("get"), outcome);
        serde_json::to_value(to_result(envelope, &CatalogSnapshot::default(), "notes", view)).unwrap()
    }

    #[test]
    fn clients_that_read_text_get_it_once() {
        let view = ServedEndpoint::default().view("claude-code");
        let result = rendered(Ok(Reply::data(json!({"n": 1}))), view);
        assert!(result.get("structuredContent").is_none(), "{result}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, json!({"ok": true, "action": "get", "data": {"n": 1}}));
    }

    #[test]
    fn text_and_structured_content_carry_the_same_envelope() {
        let result = of(Ok(Reply::data(json!({"n": 1}))));
        assert_eq!(result["structuredContent"], json!({"ok": true, "action": "get", "data": {"n": 1}}));
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        assert_eq!(result["isError"], json!(false));
    }

    #[test]
    fn media_replace_structured_content() {
        let image = Content {
            block: Block::Image { data: vec![1, 2, 3], mime_type: "image/png".into() },
            extras: Object::new(),
        };
        let result = of(Ok(Reply { content: vec![image], ..Reply::default() }));
        assert!(result.get("structuredContent").is_none());
        assert_eq!(result["content"][1], json!({"type": "image", "data": "AQID", "mimeType": "image/png"}));
    }

    #[test]
    fn failures_carry_the_next_call_in_metadata() {
        let next =
            Next { facade: "notes".into(), action: "list".into(), params: Object::new(), reason: None };
        let failure = Failure { next: Some(next), ..Failure::new(code::NOT_FOUND, "not found") };
        let result = of(Err(failure));
        assert_eq!(result["isError"], json!(true));
        let next = json!({"tool": "notes", "arguments": {"action": "list"}});
        assert_eq!(result["_meta"], json!({"loggia/nextTool": next, "nextTool": next}));
    }

    #[test]
    fn unknown_annotations_are_dropped() {
        let mut extras = Object::new();
        extras.insert("annotations".into(), json!("nonsense"));
        let text = Content { block: Block::Text("hello".into()), extras };
        let result = of(Ok(Reply { content: vec![text], ..Reply::default() }));
        assert_eq!(result["content"][1], json!({"type": "text", "text": "hello"}));
    }
}
