//! Calls of the facade.

mod calling;
mod finding;
mod names;

use loggia_sdk::{
    host::{Peer, Schema},
    prelude::*,
    testing::{self, Host},
};

use crate::Tools;

/// Two facades with schemas and answers.
fn world() -> Host {
    let note = json!({
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "What it is about."},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["title"],
    });
    let id = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    let rename = json!({"type": "object", "properties": {"newPath": {"type": "string"}}});
    Host::new()
        .peer(
            Peer::new("memories", "Memories", "What to know again next time.")
                .action("add", "Keep a memory.", Effect::Write)
                .alias("remember")
                .action("get", "Get a memory.", Effect::Read)
                .action("delete", "Delete a memory for good.", Effect::Destructive),
        )
        .peer(Peer::new("files", "Files", "Files.").action("moveFile", "Move.", Effect::Write))
        .schema(
            "memories",
            "add",
            Schema::new(note.clone())
                .effect(Effect::Write)
                .signature("add(title: string, tags?: string[])")
                .example(json!({"title": "Prefers green tea"})),
        )
        .schema(
            "memories",
            "remember",
            Schema::new(note).effect(Effect::Write).signature("add(title: string)"),
        )
        .schema("memories", "get", Schema::new(id.clone()).effect(Effect::Read).signature("get(id: string)"))
        .schema(
            "memories",
            "delete",
            Schema::new(id).effect(Effect::Destructive).signature("delete(id: string)").confirm(),
        )
        .schema(
            "files",
            "moveFile",
            Schema::new(rename).effect(Effect::Write).signature("moveFile(newPath?: string)"),
        )
        .answer("memories", "add", |params| Ok(Reply::new(json!({"id": "m_0001", "title": params["title"]}))))
        .answer("memories", "get", |_| {
            Ok(Reply::new(json!({"id": "m_0001"}))
                .message("One memory.")
                .page(Page::of(1).total(9).cursor("c"))
                .next(Next::action("delete").param("id", "m_0001").reason("to forget it"))
                .content(Content::text("more")))
        })
        .answer("memories", "delete", |_| Ok(Reply::new(Value::Null)))
}

/// Renders a reply.
fn show_reply(reply: &Reply<Value>) -> String {
    let mut text = format!("{:#}", reply.data);
    if let Some(message) = &reply.message {
        text.push_str(&format!("\n+ {message}"));
    }
    if let Some(page) = &reply.page {
        text.push_str(&format!("\n# {:?} of {:?}, cursor {:?}", page.count, page.total, page.cursor));
    }
    if let Some(next) = &reply.next {
        text.push_str(&format!(
            "\n> {} {} {:?}",
            next.action,
            Value::Object(next.params.clone()),
            next.reason
        ));
    }
    text
}

/// Renders a failure.
fn show_failure(failure: &Failure) -> String {
    let mut text = failure.to_string();
    let parts = [("hint", failure.hint.clone()), ("expected", failure.expected.clone())];
    let parts = parts.into_iter().chain([("example", failure.example.as_ref().map(Value::to_string))]);
    for (name, part) in parts {
        if let Some(part) = part {
            text.push_str(&format!("\n    {name}: {part}"));
        }
    }
    if let Some(next) = &failure.next {
        text.push_str(&format!("\n    > {} {}", next.action, Value::Object(next.params.clone())));
    }
    text
}

/// Renders calls, each with its outcome.
fn transcript(calls: &[(&str, Value)]) -> String {
    let lines = calls.iter().map(|(action, params)| {
        let outcome = match world().call(&Tools, action, params.clone()) {
            Ok(reply) => show_reply(&reply),
            Err(failure) => show_failure(&failure),
        };
        format!("{action} {params}\n{outcome}")
    });
    lines.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn the_facade_is_accepted_by_the_host() {
    insta::assert_snapshot!(testing::outline(&Tools));
}
