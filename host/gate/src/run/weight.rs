//! Estimates of heap use, so that kept outcomes are bounded in memory rather than in text: `[1,1]` is five bytes of JSON
//! and a hundred of memory.

use std::mem::size_of;

use loggia_facade::{Block, Content, Envelope, Failure, Hop, Next, Object, Page, Reply, ReplyData};
use serde_json::Value;

/// Overhead of the allocator for each block, in bytes.
const BLOCK: usize = 16;

/// Size of a heap block; an empty one is not allocated.
fn block(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { bytes + BLOCK }
}

fn vector<T>(items: &Vec<T>) -> usize {
    block(items.capacity() * size_of::<T>())
}

/// Heap use of a string.
pub(super) fn text(text: &String) -> usize {
    block(text.capacity())
}

/// Heap use of an optional string.
pub(super) fn optional(maybe: &Option<String>) -> usize {
    maybe.as_ref().map_or(0, text)
}

/// Heap use of a value, in addition to its own `size_of::<Value>()`.
pub(super) fn value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(string) => text(string),
        Value::Array(items) => vector(items) + items.iter().map(self::value).sum::<usize>(),
        Value::Object(members) => object(members),
    }
}

/// Heap use of an object. Its map is `indexmap`'s: a vector of entries (hash, name, value), and a hash table of their
/// indices. The table has a power of two of slots, at most seven eighths full, of a `usize` and a control byte each; the
/// vector has capacity for as many entries as the table can hold.
pub(super) fn object(members: &Object) -> usize {
    const ENTRY: usize = size_of::<u64>() + size_of::<String>() + size_of::<Value>();
    const PLACE: usize = size_of::<usize>() + 1;
    if members.is_empty() {
        return 0;
    }
    let places = match members.len() {
        few @ ..8 => (few + 1).next_power_of_two().max(4),
        more => (more * 8 / 7).next_power_of_two(),
    };
    let entries = places - (places / 8).max(1);
    let own = block(entries * ENTRY) + block(places * PLACE + BLOCK);
    own + members.iter().map(|(name, member)| text(name) + value(member)).sum::<usize>()
}

/// Heap use of content blocks.
pub(super) fn contents(content: &Vec<Content>) -> usize {
    vector(content) + content.iter().map(self::content).sum::<usize>()
}

/// Heap use of a content block.
pub(super) fn content(content: &Content) -> usize {
    let own = match &content.block {
        Block::Text(body) => text(body),
        Block::Image { data, mime_type } | Block::Audio { data, mime_type } => vector(data) + text(mime_type),
        Block::Embedded { uri, mime_type, text: body, blob } => {
            text(uri) + optional(mime_type) + optional(body) + blob.as_ref().map_or(0, vector)
        }
        Block::Link { uri, name, description, mime_type } => {
            text(uri) + text(name) + optional(description) + optional(mime_type)
        }
    };
    own + object(&content.extras)
}

fn next(next: &Option<Next>) -> usize {
    let size =
        |next: &Next| text(&next.facade) + text(&next.action) + object(&next.params) + optional(&next.reason);
    next.as_ref().map_or(0, size)
}

/// Heap use of a reply's data, as far as it is in memory.
fn data(data: &ReplyData) -> usize {
    let (kept, tree) = data.in_memory();
    kept.map_or(0, text) + tree.map_or(0, value)
}

fn reply(reply: &Reply) -> usize {
    let page = |page: &Page| optional(&page.cursor);
    data(&reply.data)
        + optional(&reply.message)
        + reply.page.as_ref().map_or(0, page)
        + next(&reply.next)
        + contents(&reply.content)
}

fn failure(failure: &Failure) -> usize {
    text(&failure.code)
        + text(&failure.message)
        + optional(&failure.hint)
        + optional(&failure.expected)
        + failure.details.as_ref().map_or(0, value)
        + failure.example.as_ref().map_or(0, value)
        + next(&failure.next)
}

/// Heap use of an envelope: the outcome and everything that is rendered with it.
pub(super) fn envelope(envelope: &Envelope) -> usize {
    let hop = |hop: &Hop| {
        text(&hop.facade) + text(&hop.action) + optional(&hop.message) + hop.data.as_ref().map_or(0, data)
    };
    let outcome = match &envelope.outcome {
        Ok(outcome) => reply(outcome),
        Err(outcome) => failure(outcome),
    };
    outcome
        + optional(&envelope.command.name)
        + object(&envelope.resolved_inputs)
        + vector(&envelope.trail)
        + envelope.trail.iter().map(hop).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::heap::taken_by;

    /// H77. What is weighed is at least what the allocator gave out, and at most twice as much.
    #[test]
    fn a_value_weighs_what_it_takes() {
        let text = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let list = |of: &str, times: usize| format!("[{}]", vec![of; times].join(","));
        let named = |times: usize, of: &str| {
            let members: Vec<String> = (0..times).map(|n| format!("\"member {n}\":{of}")).collect();
            format!("{{{}}}", members.join(","))
        };
        let cases = [
            ("numbers", list("1", 100_000)),
            ("nulls", list("null", 5_000)),
            ("empty lists", list("[]", 10_000)),
            ("empty objects", list("{}", 10_000)),
            ("lists of one", list("[1]", 10_000)),
            ("objects of one", list(r#"{"a":1}"#, 10_000)),
            ("objects of three", list(r#"{"a":1,"b":2,"c":3}"#, 10_000)),
            ("objects of eight", list(&named(8, "1"), 2_000)),
            ("short texts", list(r#""x""#, 10_000)),
            ("one long text", format!("\"{}\"", "x".repeat(1 << 20))),
            ("many members", named(20_000, "1")),
            ("members with texts", named(5_000, r#""some text""#)),
            ("deep", format!("{}{}", "[".repeat(100), "]".repeat(100))),
            ("nothing", "null".to_owned()),
            ("an empty object", "{}".to_owned()),
        ];
        for (what, json) in cases {
            let (parsed, taken) = taken_by(|| text(&json));
            let weighed = value(&parsed);
            assert!((taken..=taken * 2).contains(&weighed), "{what}: {weighed} bytes weighed, {taken} taken");
        }
    }

    /// H77. Nothing that an outcome holds is left out.
    #[test]
    fn every_text_of_an_outcome_weighs() {
        const LONG: usize = 10_000;
        let long = || "x".repeat(LONG);
        let object = || json!({ "a": long() }).as_object().cloned().unwrap_or_default();
        let next = || Some(Next { facade: long(), action: long(), params: object(), reason: Some(long()) });
        let plain = |block: Block| Content { block, extras: Object::new() };
        let reply = |reply: Reply| Envelope::new(loggia_facade::Command::action("a"), Ok(reply));
        let failed = |failure: Failure| Envelope::new(loggia_facade::Command::action("a"), Err(failure));
        let failure = || Failure::new("a", "b");
        let shows = |block: Block| reply(Reply { content: vec![plain(block)], ..Reply::default() });
        let hop = Hop {
            facade: long(),
            action: long(),
            ok: true,
            message: Some(long()),
            data: Some(long().into()),
        };
        let named = Envelope::new(loggia_facade::Command::action(long()), Ok(Reply::default()));
        let cases = [
            (1, named),
            (1, reply(Reply::data(long()))),
            (1, reply(Reply { message: Some(long()), ..Reply::default() })),
            (
                1,
                reply(Reply {
                    page: Some(Page { cursor: Some(long()), ..Page::default() }),
                    ..Reply::default()
                }),
            ),
            (4, reply(Reply { next: next(), ..Reply::default() })),
            (1, shows(Block::Text(long()))),
            (2, shows(Block::Image { data: long().into_bytes(), mime_type: long() })),
            (2, shows(Block::Audio { data: long().into_bytes(), mime_type: long() })),
            (
                4,
                shows(Block::Embedded {
                    uri: long(),
                    mime_type: Some(long()),
                    text: Some(long()),
                    blob: Some(long().into_bytes()),
                }),
            ),
            (
                4,
                shows(Block::Link {
                    uri: long(),
                    name: long(),
                    description: Some(long()),
                    mime_type: Some(long()),
                }),
            ),
            (
                1,
                reply(Reply {
                    content: vec![Content { extras: object(), ..plain(Block::Text(String::new())) }],
                    ..Reply::default()
                }),
            ),
            (2, failed(Failure::new(&long(), long()))),
            (1, failed(failure().hint(long()))),
            (1, failed(Failure { expected: Some(long()), ..failure() })),
            (1, failed(Failure { details: Some(long().into()), ..failure() })),
            (1, failed(Failure { example: Some(long().into()), ..failure() })),
            (4, failed(Failure { next: next(), ..failure() })),
            (1, Envelope { resolved_inputs: object(), ..reply(Reply::default()) }),
            (4, Envelope { trail: vec![hop], ..reply(Reply::default()) }),
        ];
        for (at, (texts, case)) in cases.iter().enumerate() {
            let weighed = envelope(case);
            assert!((texts * LONG..texts * LONG + 2_000).contains(&weighed), "case {at}: {weighed}");
        }
    }
}
