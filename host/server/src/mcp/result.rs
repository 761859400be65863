//! Converts an envelope to an MCP result.
//!
//! Some clients show a model only `structuredContent`, others only the text, so for clients of which nothing is known both carry
//! the whole envelope. The others get the text alone, which all of them read where there is nothing else. If a reply has media, `structuredContent` is omitted, because clients of the first kind would hide the media, unless an output
//! schema promises it.

use loggia_facade::{Block, Envelope};
use loggia_gate::catalog::CatalogSnapshot;
use loggia_policy::clients::ResultForm;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};

use super::{
    content::{replace_hidden, to_content_block},
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
    let content: Vec<_> =
        content.into_iter().map(|content| replace_hidden(content, &view.client.content)).collect();
    let media = content.iter().any(|content| !matches!(content.block, Block::Text(_)));
    blocks.extend(content.into_iter().map(to_content_block));
    let mut result = if is_error { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) };
    if (!media && view.client.result == ResultForm::Both) || promised {
        share_text(&mut result);
    }
    result.meta = meta;
    result
}

#[cfg(test)]
mod tests {
    use loggia_facade::{Command, Content, Failure, Next, Object, Reply, code};
    use serde_json::{Value, json};

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
    fn blocks_that_a_client_hides_are_lines_of_text() {
        let embedded = |text: Option<&str>, blob: Option<Vec<u8>>| Block::Embedded {
            uri: "file:///a".into(),
            mime_type: Some("text/plain".into()),
            text: text.map(str::to_owned),
            blob,
        };
        let blocks = [
            Block::Image { data: vec![0; 12], mime_type: "image/png".into() },
            Block::Audio { data: vec![0; 20_000], mime_type: "audio/wav\nx".into() },
            embedded(Some("milk\ntea"), None),
            embedded(None, Some(vec![1, 2, 3])),
            Block::Link {
                uri: "https://example.com/a.pdf".into(),
                name: "A".into(),
                description: Some("An example.".into()),
                mime_type: Some("application/pdf".into()),
            },
        ];
        let contents = || blocks.iter().map(|block| Content { block: block.clone(), extras: Object::new() });
        let shown = |client: &str| {
            let reply = Reply { content: contents().collect(), ..Reply::default() };
            let result = rendered(Ok(reply), ServedEndpoint::default().view(client));
            let blocks: Vec<Value> = result["content"].as_array().unwrap()[1..].to_vec();
            blocks.iter().map(|block| block["text"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(shown("a script"), vec![None; 5]);
        assert_eq!(shown("Visual Studio Code"), vec![None; 5]);
        let why = "this client does not pass it to its model; use the text, and do not guess what it holds";
        let link = "[link to A (An example.): https://example.com/a.pdf, application/pdf]";
        let expected = [
            None,
            Some(format!("[audio, audio/wav x, 19KiB, left out: {why}]")),
            Some("[resource file:///a, text/plain]\nmilk\ntea".to_owned()),
            Some(format!("[resource file:///a, text/plain, 3B, left out: {why}]")),
            Some(link.to_owned()),
        ];
        assert_eq!(shown("Zed"), expected);
        let [.., blob, link] = expected;
        assert_eq!(shown("claude-code"), [None, None, None, None, link]);
        assert_eq!(shown("codex-mcp-client"), [None, None, None, blob, None]);
    }

    #[test]
    fn pictures_that_a_client_cannot_take_are_left_out() {
        let image = |bytes: usize| Content {
            block: Block::Image { data: vec![0; bytes], mime_type: "image/png".into() },
            extras: Object::new(),
        };
        let reply = Reply { content: vec![image(3_932_160), image(3_932_161)], ..Reply::default() };
        for (client, is_left_out) in [("claude-code", true), ("cursor", false)] {
            let result = rendered(Ok(reply.clone()), ServedEndpoint::default().view(client));
            assert_eq!(result["content"][1]["type"], "image", "{client}");
            let text = result["content"][2]["text"].as_str();
            let why = "larger than the 3840KiB that this client takes";
            assert_eq!(text.is_some_and(|text| text.contains(why)), is_left_out, "{client}: {text:?}");
        }
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
