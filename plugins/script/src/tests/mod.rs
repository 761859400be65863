//! Calls of the facade.

mod checking;
mod declaring;
mod failing;
mod hostile;
mod running;

use loggia_sdk::{
    host::{Peer, Schema},
    prelude::*,
    testing::{self, Host},
};

use crate::Script;

/// Two facades with schemas and answers.
fn world() -> Host {
    let memory = json!({
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "The fact in one line."},
            "tags": {"type": "array", "items": {"type": "string"}, "default": []},
            "kind": {"enum": ["person", "project"]},
        },
        "required": ["title"],
        "additionalProperties": false,
    });
    let id = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": false});
    let page = json!({"type": "object", "properties": {"limit": {"type": "integer"}}, "additionalProperties": false});
    let stored = json!({"type": "object", "properties": {"id": {"type": "string"}, "title": {"type": "string"}, "pinned": {"type": ["boolean", "null"]}, "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["id", "title"]});
    let with_data = |params: Value, data: Value| {
        let mut schema = Schema::new(params);
        schema.data = Some(data);
        schema
    };
    let all = json!({"type": "array", "items": stored});
    Host::new()
        .peer(
            Peer::new("memories", "Memories", "Facts to remember.")
                .action("list", "List memories.", Effect::Read)
                .action("get", "Get a memory.", Effect::Read)
                .action("add", "Remember something.", Effect::Write)
                .alias("remember")
                .action("delete", "Delete a memory for good.", Effect::Destructive),
        )
        .peer(Peer::new("my-files", "Files", "Files of\nthe person.").action(
            "read-all",
            "Read all.",
            Effect::Read,
        ))
        .schema(
            "memories",
            "list",
            with_data(page, all).effect(Effect::Read).signature("list(limit?: integer)"),
        )
        .schema(
            "memories",
            "get",
            with_data(id.clone(), stored).effect(Effect::Read).signature("get(id: string)"),
        )
        .schema(
            "memories",
            "add",
            Schema::new(memory).effect(Effect::Write).signature("add(title: string, tags?: string[])"),
        )
        .schema(
            "memories",
            "delete",
            Schema::new(id).effect(Effect::Destructive).signature("delete(id: string)"),
        )
        .schema("my-files", "read-all", Schema::new(json!({"type": "object", "additionalProperties": false})))
        .answer("memories", "list", |_| {
            let reply = Reply::new(json!([{"id": "m_0001", "title": "Tea"}])).message("One.");
            Ok(reply
                .page(Page::of(1).total(7).cursor("m_0001"))
                .next(Next::of("memories", "get").param("id", "m_0001")))
        })
        .answer("memories", "get", |params| match params["id"].as_str() {
            Some("m_0001") => Ok(Reply::new(json!({"id": "m_0001", "title": "Tea"}))),
            other => Err(Failure::not_found(format!("not found: there is no memory {other:?}"))
                .hint("`list` shows memories.")
                .details(json!({"id": other}))
                .next(Next::of("memories", "list"))),
        })
        .answer("memories", "add", |params| Ok(Reply::new(json!({"id": "m_0002", "title": params["title"]}))))
        .answer("my-files", "read-all", |_| Ok(Reply::new(json!("all"))))
        // Unoptimised, the engine is slow.
        .config("steps", 100_000)
}

/// Runs a program.
fn run(code: &str) -> Result<Value> {
    world().call(&Script, "run", json!({"code": code})).map(|reply| reply.data["result"].clone())
}

#[test]
fn the_surface_is_small() {
    insta::assert_snapshot!(testing::outline(&Script));
}

/// JSON over several lines.
fn pretty(value: &Value) -> String {
    loggia_sdk::serde_json::to_string_pretty(value).unwrap()
}
