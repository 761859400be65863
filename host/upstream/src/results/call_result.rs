//! The result of a call of a tool.

use loggia_facade::{Block, Content, Failure, Reply, code, json};
use loggia_text::{redact, sanitise_text};
use serde_json::Value;

use super::{content::read_block, next_call::read_next};
use crate::adapt::AdaptedTools;

/// The code of a failure that the upstream reports itself.
pub(crate) const UPSTREAM_ERROR: &str = "upstream_error";

/// Bytes of an upstream's text in a failure: several screens, and still little in a model's context.
const ERROR_TEXT: usize = 4096;

/// Reads the result of a call: `CallToolResult` as JSON.
///
/// `data` is the structured content, else the value of a single JSON text, else the text; several texts become a list. A
/// text that only repeats the structured content is dropped. Other content passes as it is.
///
/// # Errors
///
/// The failure that the upstream reports, or one that says that its result is malformed.
pub(crate) fn read_result(result: &Value, tools: &AdaptedTools) -> Result<Reply, Failure> {
    let next = read_next(result.get("_meta"), tools);
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let blocks = match result.get("content") {
        Some(Value::Array(blocks)) => blocks.as_slice(),
        None if structured.is_some() || is_error => &[],
        _ => return Err(malformed()),
    };
    let mut texts = Vec::new();
    let mut content = Vec::new();
    let mut unreadable = 0;
    for block in blocks {
        match read_block(block) {
            Some(Content { block: Block::Text(text), .. }) => texts.push(text),
            Some(other) => content.push(other),
            None => unreadable += 1,
        }
    }
    if is_error {
        return Err(Failure { details: structured.cloned(), next, ..failure_of_text(&texts.join("\n")) });
    }
    let data = match structured {
        Some(structured) => {
            if !repeats(structured, &texts) {
                let block = |text| Content { block: Block::Text(text), extras: Default::default() };
                content.splice(0..0, texts.into_iter().map(block));
            }
            structured.clone()
        }
        None => data_of_texts(texts),
    };
    let message = (unreadable > 0)
        .then(|| format!("{unreadable} content blocks of the upstream's result are malformed and left out"));
    Ok(Reply { data: data.into(), message, page: None, next, content })
}

/// The failure of a call that the upstream answers with a JSON-RPC error.
pub(crate) fn failure_of_error(rpc_code: i32, message: &str) -> Failure {
    /// JSON-RPC's "invalid params", also MCP's answer to an unknown tool.
    const INVALID_PARAMS: i32 = -32602;
    let failure = failure_of_text(message);
    match rpc_code {
        INVALID_PARAMS => Failure { code: code::INVALID_PARAMS.into(), ..failure },
        _ => failure,
    }
}

fn failure_of_text(text: &str) -> Failure {
    let text = sanitise_text(&redact(text), ERROR_TEXT);
    match text.trim() {
        "" => Failure::new(UPSTREAM_ERROR, "the upstream reports a failure without a reason"),
        text => Failure::new(UPSTREAM_ERROR, text),
    }
}

fn malformed() -> Failure {
    Failure::new(code::INTERNAL, "the upstream's result is malformed: it has no list `content`")
        .hint("The same call will fail again; the upstream has to be corrected.")
}

fn data_of_texts(mut texts: Vec<String>) -> Value {
    match texts.len() {
        0 => Value::Null,
        1 => parsed(texts.remove(0)),
        _ => texts.into_iter().map(parsed).collect(),
    }
}

/// The value of a text that is a JSON object or list, else the text. Numbers and words stay text: `007` is no number.
fn parsed(text: String) -> Value {
    if text.trim_start().starts_with(['{', '[']) {
        match json::parse(&text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => return value,
            _ => return Value::String(text),
        }
    }
    Value::String(text)
}

/// Whether the texts say the same as the structured content. MCP recommends to send it as a text, too. Servers put what is no
/// object under one name, and send its value as a text; FastMCP sends one text for each item of a list.
fn repeats(structured: &Value, texts: &[String]) -> bool {
    let is_same = |value: &Value, text: &str| match value {
        Value::String(own) => own == text,
        // Python's texts of these begin with a capital.
        Value::Bool(_) | Value::Null | Value::Number(_) => {
            text.trim().eq_ignore_ascii_case(&value.to_string())
        }
        _ => json::parse(text).is_ok_and(|parsed| parsed == *value),
    };
    let values: Vec<&Value> = match structured.as_object() {
        Some(members) if members.len() == 1 => std::iter::once(structured).chain(members.values()).collect(),
        _ => vec![structured],
    };
    values.into_iter().any(|value| match (value, texts) {
        (_, []) => true,
        (value, [text]) if is_same(value, text) => true,
        (Value::Array(items), texts) => {
            items.len() == texts.len() && items.iter().zip(texts).all(|(item, text)| is_same(item, text))
        }
        _ => false,
    })
}
