//! Messages of the server as text.
//!
//! A result carries its envelope twice: as the text of its first block, and as structured content. Both are written from one
//! text, so that what a plugin returned is neither parsed nor built a second time.

use loggia_facade::json::write_string;
use rmcp::{
    RoleServer,
    model::{CallToolResult, ContentBlock, JsonRpcMessage, RequestId, ServerResult},
    service::TxJsonRpcMessage,
};
use serde::Serialize;
use serde_json::{Map, Value};

/// Room for what a response has besides its envelope.
const FRAME: usize = 256;

/// Makes the text of the first block the structured content too, for [`message_text`]. Nothing else may write the result.
///
/// An object without members stands for the text: no envelope is one, and rmcp drops what is not an object for older clients.
pub fn share_text(result: &mut CallToolResult) {
    result.structured_content = Some(Value::Object(Map::new()));
}

/// Parses the text of the first block into the structured content, for writers that know nothing of [`share_text`].
pub fn unshare_text(result: &mut CallToolResult) {
    if let Some(text) = shared_text(result) {
        result.structured_content = serde_json::from_str(text).ok();
    }
}

/// Returns a message that any writer may write, if only [`message_text`] may write this one.
pub fn unshared_message(message: &TxJsonRpcMessage<RoleServer>) -> Option<TxJsonRpcMessage<RoleServer>> {
    let JsonRpcMessage::Response(response) = message else { return None };
    let ServerResult::CallToolResult(result) = &response.result else { return None };
    shared_text(result)?;
    let mut result = result.clone();
    unshare_text(&mut result);
    Some(JsonRpcMessage::response(ServerResult::CallToolResult(result), response.id.clone()))
}

/// Renders a message to its JSON, on one line.
///
/// # Errors
///
/// If rmcp's types cannot be serialized, which does not happen.
pub fn message_text(message: &TxJsonRpcMessage<RoleServer>) -> serde_json::Result<String> {
    if let JsonRpcMessage::Response(response) = message
        && let ServerResult::CallToolResult(result) = &response.result
    {
        return response_text(&response.id, result);
    }
    serde_json::to_string(message)
}

/// Renders the response to a `tools/call`.
///
/// # Errors
///
/// As [`message_text`].
pub fn response_text(id: &RequestId, result: &CallToolResult) -> serde_json::Result<String> {
    let text = shared_text(result);
    // The text is written twice, once with escapes.
    let mut out = String::with_capacity(text.map_or(0, |text| text.len() * 2 + text.len() / 2) + FRAME);
    out.push_str(r#"{"jsonrpc":"2.0","id":"#);
    push(&mut out, id)?;
    out.push_str(r#","result":"#);
    match text {
        Some(text) => push_shared(&mut out, result, text)?,
        None => push(&mut out, result)?,
    }
    out.push('}');
    Ok(out)
}

/// Writes a result in the order of rmcp's type.
fn push_shared(out: &mut String, result: &CallToolResult, text: &str) -> serde_json::Result<()> {
    out.push('{');
    if let Some(kind) = &result.result_type {
        out.push_str(r#""resultType":"#);
        push(out, kind)?;
        out.push(',');
    }
    out.push_str(r#""content":[{"type":"text","text":"#);
    write_string(out, text);
    out.push('}');
    for block in result.content.iter().skip(1) {
        out.push(',');
        push(out, block)?;
    }
    out.push_str(r#"],"structuredContent":"#);
    out.push_str(text);
    if let Some(is_error) = result.is_error {
        out.push_str(r#","isError":"#);
        push(out, &is_error)?;
    }
    if let Some(meta) = &result.meta {
        out.push_str(r#","_meta":"#);
        push(out, meta)?;
    }
    out.push('}');
    Ok(())
}

/// Returns the text that is both block and structured content. Blocks that this server makes of an envelope have nothing else.
fn shared_text(result: &CallToolResult) -> Option<&str> {
    match (&result.structured_content, result.content.first()) {
        (Some(Value::Object(members)), Some(ContentBlock::Text(block))) if members.is_empty() => {
            Some(&block.text)
        }
        _ => None,
    }
}

fn push(out: &mut String, value: &impl Serialize) -> serde_json::Result<()> {
    out.push_str(&serde_json::to_string(value)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use rmcp::model::{MetaObject, ResultType};
    use serde_json::json;

    use super::*;

    #[test]
    fn shared_text_is_written_as_rmcp_writes_it() {
        let envelope = r#"{"ok":true,"data":{"a":"\"\\\n","b":[1,null]}}"#;
        let mut meta = MetaObject::new();
        meta.insert("nextTool".into(), json!({"tool": "a"}));
        let image = ContentBlock::image("AQID", "image/png");
        let texts = |texts: &[&str]| texts.iter().map(|text| ContentBlock::text(*text)).collect::<Vec<_>>();
        let plain = CallToolResult::success(texts(&[envelope]));
        let mut whole = CallToolResult::error([texts(&[envelope, "two"]), vec![image]].concat());
        whole.meta = Some(meta);
        let mut legacy = plain.clone();
        legacy.result_type = None;
        assert_eq!(plain.result_type, Some(ResultType::COMPLETE));
        for result in [plain, whole, legacy] {
            for id in [RequestId::Number(5), RequestId::String("a\"b".into())] {
                let written = |result: &CallToolResult| {
                    let result = ServerResult::CallToolResult(result.clone());
                    message_text(&JsonRpcMessage::response(result, id.clone())).unwrap()
                };
                // Without structured content, this is rmcp's own writing.
                let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
                assert_eq!(written(&result), message.to_string());
                let mut shared = result.clone();
                share_text(&mut shared);
                let text = written(&shared);
                let message =
                    JsonRpcMessage::response(ServerResult::CallToolResult(shared.clone()), id.clone());
                let unshared = unshared_message(&message).expect("it shares its text");
                assert_eq!(serde_json::to_string(&unshared).unwrap(), text);
                assert!(unshared_message(&unshared).is_none());
                unshare_text(&mut shared);
                assert_eq!(shared.structured_content, serde_json::from_str(envelope).unwrap());
                assert_eq!(text, json!({"jsonrpc": "2.0", "id": id, "result": shared}).to_string());
            }
        }
    }

    #[test]
    fn other_messages_are_left_to_rmcp() {
        let message = JsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(1));
        assert_eq!(message_text(&message).unwrap(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    }
}
