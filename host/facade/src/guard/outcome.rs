//! An outcome as the JSON that guards see, and replacements of it.
//!
//! A guard sees all texts of an outcome, and no bytes of its media. Nothing that a replacement leaves out is kept, and nothing
//! that it adds is trusted more than what it replaces.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Block, Content, Failure, Next, Object, Page, Reply, ReplyData,
    json::{JsonError, parse, write_object, write_string, write_value},
};

/// Why a replacement cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OutcomeError {
    /// The text is no JSON, or holds too much.
    #[error("the replacement cannot be read: {0}")]
    Json(#[from] JsonError),
    /// It is no outcome.
    #[error("the replacement is no outcome: {0}")]
    Shape(#[from] serde_json::Error),
    /// A failure in place of a reply, or the other way.
    #[error("the replacement of a {0} is none; a guard that does not want it refuses")]
    Kind(&'static str),
    /// An item of `content` is not the block that it names.
    #[error("`content` item {0} {1}")]
    Content(usize, &'static str),
    /// The follow-up call is none.
    #[error("`next` is no call: {0}")]
    Next(&'static str),
}

/// Renders an outcome as guards see it. Data that is text already is copied, not parsed.
pub fn render_outcome(outcome: &Result<Reply, Failure>) -> String {
    let mut out = String::new();
    match outcome {
        Ok(reply) => render_reply(reply, &mut out),
        Err(failure) => {
            out.push_str("{\"failure\":");
            write_object(&mut out, &failure_members(failure));
            out.push('}');
        }
    }
    out
}

fn render_reply(reply: &Reply, out: &mut String) {
    let mut members = Object::new();
    if let Some(message) = &reply.message {
        members.insert("message".into(), message.as_str().into());
    }
    if let Some(page) = &reply.page {
        let Page { count, total, cursor } = page;
        members.insert("page".into(), json!({ "count": count, "total": total, "cursor": cursor }));
    }
    if let Some(next) = &reply.next {
        members.insert("next".into(), next.to_json());
    }
    if !reply.content.is_empty() {
        members.insert("content".into(), reply.content.iter().enumerate().map(render_block).collect());
    }
    out.push_str("{\"reply\":{\"data\":");
    match reply.data.clean_text() {
        Some(text) => out.push_str(text),
        None => write_value(out, &reply.data),
    }
    for (name, value) in &members {
        out.push(',');
        write_string(out, name);
        out.push(':');
        write_value(out, value);
    }
    out.push_str("}}");
}

fn failure_members(failure: &Failure) -> Object {
    let optional = |text: &Option<String>| text.clone().map(Value::from);
    let members = [
        ("code", Some(failure.code.clone().into())),
        ("message", Some(failure.message.clone().into())),
        ("hint", optional(&failure.hint)),
        ("details", failure.details.clone()),
        ("retry_after_ms", failure.retry_after_ms.map(Value::from)),
        ("next", failure.next.as_ref().map(Next::to_json)),
        ("expected", optional(&failure.expected)),
        ("example", failure.example.clone()),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn render_block((at, content): (usize, &Content)) -> Value {
    let mut item = json!({ "block": at, "type": block_type(&content.block) });
    match &content.block {
        Block::Text(text) => item["text"] = text.as_str().into(),
        Block::Image { data, mime_type } | Block::Audio { data, mime_type } => {
            item["mimeType"] = mime_type.as_str().into();
            item["size"] = data.len().into();
        }
        Block::Embedded { uri, mime_type, text, blob } => {
            item["uri"] = uri.as_str().into();
            put(&mut item, "mimeType", mime_type.as_ref());
            put(&mut item, "text", text.as_ref());
            if let Some(blob) = blob {
                item["size"] = blob.len().into();
            }
        }
        Block::Link { uri, name, description, mime_type } => {
            item["uri"] = uri.as_str().into();
            item["name"] = name.as_str().into();
            put(&mut item, "description", description.as_ref());
            put(&mut item, "mimeType", mime_type.as_ref());
        }
    }
    if !content.extras.is_empty() {
        item["meta"] = Value::Object(content.extras.clone());
    }
    item
}

fn put(item: &mut Value, name: &str, text: Option<&String>) {
    if let Some(text) = text {
        item[name] = text.as_str().into();
    }
}

fn block_type(block: &Block) -> &'static str {
    match block {
        Block::Text(_) => "text",
        Block::Image { .. } => "image",
        Block::Audio { .. } => "audio",
        Block::Embedded { .. } => "resource",
        Block::Link { .. } => "link",
    }
}

/// An outcome that a guard has written.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum WrittenOutcome {
    Reply(WrittenReply),
    Failure(WrittenFailure),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenReply {
    #[serde(default)]
    data: Value,
    message: Option<String>,
    page: Option<Page>,
    next: Option<Value>,
    #[serde(default)]
    content: Vec<WrittenBlock>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFailure {
    code: String,
    message: String,
    hint: Option<String>,
    details: Option<Value>,
    retry_after_ms: Option<u64>,
    next: Option<Value>,
    expected: Option<String>,
    example: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBlock {
    block: Option<usize>,
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    uri: Option<String>,
    name: Option<String>,
    description: Option<String>,
    #[serde(rename = "mimeType")]
    mime_type: Option<String>,
    /// Bytes stay as they are.
    #[serde(rename = "size")]
    _size: Option<u64>,
    #[serde(default)]
    meta: Object,
}

/// Reads a replacement of an outcome. The bytes of media are those of the original.
///
/// # Errors
///
/// If the text is no outcome of the same kind, or holds a block that the original has not.
pub fn replace_outcome(
    original: Result<Reply, Failure>,
    written: &str,
) -> Result<Result<Reply, Failure>, OutcomeError> {
    let written: WrittenOutcome = serde_json::from_value(parse(written)?)?;
    match (original, written) {
        (Ok(original), WrittenOutcome::Reply(written)) => {
            let mut blocks: Vec<Option<Block>> =
                original.content.into_iter().map(|content| Some(content.block)).collect();
            let content = written.content.into_iter().enumerate();
            let content = content
                .map(|(at, item)| {
                    item.into_content(&mut blocks).map_err(|reason| OutcomeError::Content(at, reason))
                })
                .collect::<Result<_, _>>()?;
            Ok(Ok(Reply {
                data: ReplyData::from(written.data),
                message: written.message,
                page: written.page,
                next: to_next(written.next)?,
                content,
            }))
        }
        (Err(_), WrittenOutcome::Failure(written)) => {
            let WrittenFailure { code, message, hint, details, retry_after_ms, next, expected, example } =
                written;
            let next = to_next(next)?;
            Ok(Err(Failure { code, message, hint, details, retry_after_ms, next, expected, example }))
        }
        (Ok(_), WrittenOutcome::Failure(_)) => Err(OutcomeError::Kind("reply")),
        (Err(_), WrittenOutcome::Reply(_)) => Err(OutcomeError::Kind("failure")),
    }
}

fn to_next(next: Option<Value>) -> Result<Option<Next>, OutcomeError> {
    next.map(|next| Next::from_json(&next).map_err(OutcomeError::Next)).transpose()
}

impl WrittenBlock {
    /// Takes the block that the item names out of the original ones, and changes its texts.
    fn into_content(self, blocks: &mut [Option<Block>]) -> Result<Content, &'static str> {
        const NO_TEXT: &str = "has no `text`";
        const NO_URI: &str = "has no `uri`";
        let Self { block, kind, text, uri, name, description, mime_type, _size: _, meta } = self;
        let Some(at) = block else {
            let is_text = kind.is_none_or(|kind| kind == "text");
            let text = text.filter(|_| is_text).ok_or("is new, and no text")?;
            return Ok(Content { block: Block::Text(text), extras: meta });
        };
        let original = blocks.get_mut(at).and_then(Option::take);
        let original = original.ok_or("names a block that there is not, or names it twice")?;
        if kind.is_some_and(|kind| kind != block_type(&original)) {
            return Err("has another type than its block");
        }
        let block = match original {
            Block::Text(_) => Block::Text(text.ok_or(NO_TEXT)?),
            Block::Image { data, mime_type } => Block::Image { data, mime_type },
            Block::Audio { data, mime_type } => Block::Audio { data, mime_type },
            Block::Embedded { text: Some(_), blob, .. } => {
                Block::Embedded { uri: uri.ok_or(NO_URI)?, mime_type, text: Some(text.ok_or(NO_TEXT)?), blob }
            }
            Block::Embedded { text: None, blob, .. } => {
                Block::Embedded { uri: uri.ok_or(NO_URI)?, mime_type, text: None, blob }
            }
            Block::Link { .. } => Block::Link {
                uri: uri.ok_or(NO_URI)?,
                name: name.ok_or("has no `name`")?,
                description,
                mime_type,
            },
        };
        Ok(Content { block, extras: meta })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code;

    fn content(block: Block) -> Content {
        Content { block, extras: Object::new() }
    }

    fn full_reply() -> Reply {
        let next = Next {
            facade: "notes".into(),
            action: "list".into(),
            params: json!({ "n": 1 }).as_object().cloned().unwrap_or_default(),
            reason: Some("more".into()),
        };
        let embedded = |text: Option<&str>, blob: Option<Vec<u8>>| Block::Embedded {
            uri: "file:///a".into(),
            mime_type: Some("text/plain".into()),
            text: text.map(str::to_owned),
            blob,
        };
        let link = Block::Link {
            uri: "https://a.example".into(),
            name: "a".into(),
            description: Some("d".into()),
            mime_type: None,
        };
        let noted = Content {
            extras: json!({ "annotations": { "priority": 1 } }).as_object().cloned().unwrap_or_default(),
            ..content(Block::Text("t".into()))
        };
        Reply {
            data: json!({ "a": ["b", 1] }).into(),
            message: Some("m".into()),
            page: Some(Page { count: Some(1), total: None, cursor: Some("c".into()) }),
            next: Some(next),
            content: vec![
                noted,
                content(Block::Image { data: vec![1, 2], mime_type: "image/png".into() }),
                content(Block::Audio { data: vec![3], mime_type: "audio/wav".into() }),
                content(embedded(Some("e"), None)),
                content(embedded(None, Some(vec![4]))),
                content(link),
            ],
        }
    }

    #[test]
    fn what_is_rendered_can_be_read_back() {
        let failure = Failure {
            hint: Some("h".into()),
            details: Some(json!([1])),
            retry_after_ms: Some(5),
            expected: Some("add(text)".into()),
            example: Some(json!({})),
            ..Failure::new(code::DENIED, "no")
        };
        let text = Reply { data: ReplyData::from_text(r#"{"a":"b"}"#.into()).unwrap(), ..Reply::default() };
        for outcome in [Ok(Reply::default()), Ok(text), Ok(full_reply()), Err(failure)] {
            let text = render_outcome(&outcome);
            assert_eq!(replace_outcome(outcome.clone(), &text).unwrap(), outcome, "{text}");
        }
    }

    #[test]
    fn a_guard_sees_texts_and_no_bytes() {
        assert_eq!(
            render_outcome(&Ok(full_reply())),
            concat!(
                r#"{"reply":{"data":{"a":["b",1]},"message":"m","page":{"count":1,"total":null,"cursor":"c"},"#,
                r#""next":{"tool":"notes","arguments":{"action":"list","n":1},"reason":"more"},"content":["#,
                r#"{"block":0,"type":"text","text":"t","meta":{"annotations":{"priority":1}}},"#,
                r#"{"block":1,"type":"image","mimeType":"image/png","size":2},"#,
                r#"{"block":2,"type":"audio","mimeType":"audio/wav","size":1},"#,
                r#"{"block":3,"type":"resource","uri":"file:///a","mimeType":"text/plain","text":"e"},"#,
                r#"{"block":4,"type":"resource","uri":"file:///a","mimeType":"text/plain","size":1},"#,
                r#"{"block":5,"type":"link","uri":"https://a.example","name":"a","description":"d"}]}}"#,
            )
        );
    }

    #[test]
    fn what_a_replacement_omits_is_gone() {
        let written =
            r#"{"reply": {"content": [{"text": "note"}, {"block": 1}, {"block": 0, "text": "T"}]}}"#;
        let reply = replace_outcome(Ok(full_reply()), written).unwrap().unwrap();
        let image = Block::Image { data: vec![1, 2], mime_type: "image/png".into() };
        let expected = Reply {
            content: vec![
                content(Block::Text("note".into())),
                content(image),
                content(Block::Text("T".into())),
            ],
            ..Reply::default()
        };
        assert_eq!(reply, expected);
    }

    #[test]
    fn a_wrong_replacement_is_refused_with_its_reason() {
        let many = format!(r#"{{"reply": {{"data": [{}1]}}}}"#, "1,".repeat(200_000));
        let failure = || Err(Failure::new(code::DENIED, "no"));
        for (original, written, reason) in [
            (Ok(full_reply()), "", "the replacement cannot be read"),
            (Ok(full_reply()), &many, "the replacement cannot be read: it holds more than"),
            (Ok(full_reply()), "[]", "the replacement is no outcome"),
            (
                Ok(full_reply()),
                r#"{"reply": {"text": 1}}"#,
                "the replacement is no outcome: unknown field `text`",
            ),
            (Ok(full_reply()), r#"{"reply": {}, "failure": {}}"#, "the replacement is no outcome"),
            (
                Ok(full_reply()),
                r#"{"failure": {"code": "denied", "message": "no"}}"#,
                "the replacement of a reply is none",
            ),
            (failure(), r#"{"reply": {}}"#, "the replacement of a failure is none"),
            (
                failure(),
                r#"{"failure": {"code": "x"}}"#,
                "the replacement is no outcome: missing field `message`",
            ),
            (Ok(full_reply()), r#"{"reply": {"next": {}}}"#, "`next` is no call: it names no tool"),
            (Ok(full_reply()), r#"{"reply": {"content": [{"block": 9}]}}"#, "`content` item 0 names a block"),
            (
                Ok(full_reply()),
                r#"{"reply": {"content": [{"block": 1}, {"block": 1}]}}"#,
                "`content` item 1 names a block",
            ),
            (Ok(full_reply()), r#"{"reply": {"content": [{"block": 0}]}}"#, "`content` item 0 has no `text`"),
            (
                Ok(full_reply()),
                r#"{"reply": {"content": [{"block": 0, "type": "image"}]}}"#,
                "`content` item 0 has another type",
            ),
            (Ok(full_reply()), r#"{"reply": {"content": [{"type": "image"}]}}"#, "`content` item 0 is new"),
            (
                Ok(full_reply()),
                r#"{"reply": {"content": [{"block": 5, "uri": "x"}]}}"#,
                "`content` item 0 has no `name`",
            ),
        ] {
            let error = replace_outcome(original, written).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{error}");
        }
    }
}
