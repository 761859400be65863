//! Surfaces for tests.

use std::sync::Arc;

use loggia_facade::{Action, Effect, Surface};
use serde_json::{Value, json};

pub(crate) fn action(name: &str, params: Value) -> Action {
    Action {
        name: name.into(),
        summary: format!("Does {name}."),
        effect: Effect::Read,
        idempotent: false,
        open_world: false,
        long_running: false,
        details: false,
        aliases: Vec::new(),
        needs: Vec::new(),
        group: None,
        resource: None,
        view: None,
        params: Arc::new(params.as_object().unwrap().clone()),
        data: None,
        examples: Vec::new(),
    }
}

pub(crate) fn surface(name: &str, actions: Vec<Action>) -> Surface {
    Surface {
        name: name.into(),
        title: "A title".into(),
        version: "1.2.3".into(),
        summary: "A facade for tests.".into(),
        instructions: None,
        default_action: None,
        actions,
        views: Vec::new(),
        wants: Vec::new(),
    }
}

/// A facade with one action.
pub(crate) fn one(properties: Value, required: Value) -> Surface {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    surface("one", vec![action("go", schema)])
}

/// A small facade, with schemas as the SDK and schemars generate them.
pub(crate) fn notes() -> Surface {
    let add = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "add", "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What the note says.", "minLength": 1, "maxLength": 4000},
            "tags": {"type": "array", "items": {"type": "string"}, "default": [], "x-hint": "Reuse tags that `list` shows."},
            "priority": {"anyOf": [{"$ref": "#/$defs/Priority"}, {"type": "null"}], "description": "How urgent it is."},
        },
        "required": ["text"],
        "$defs": {"Priority": {"oneOf": [
            {"type": "string", "const": "low", "description": "Some day."},
            {"type": "string", "const": "high", "description": "Today."}]}},
    });
    let search = json!({"type": "object", "required": ["query"], "properties": {
        "query": {"type": "string", "description": "Words that all must occur.", "minLength": 1},
        "limit": {"type": "integer", "format": "uint32", "minimum": 1, "maximum": 50, "default": 10},
        "depth": {"type": "string", "enum": ["xs", "s", "m", "l"], "x-hint": "Use xs or s for fast drafts."},
        "since": {"type": ["string", "null"], "format": "date"},
    }});
    let list = json!({"type": "object", "properties": {
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Only notes with all of these."},
        "limit": {"type": "integer", "format": "uint32", "minimum": 1, "maximum": 100, "default": 20},
    }});
    let by_id = json!({"type": "object", "properties": {
        "id": {"type": "string", "pattern": "^n_[0-9]+$", "description": "As `list` shows it."}}, "required": ["id"]});
    let mut surface = surface(
        "notes",
        vec![
            Action {
                effect: Effect::Write,
                summary: "Add a note.".into(),
                examples: vec![json!({"text": "Buy milk"}).as_object().unwrap().clone()],
                ..action("add", add)
            },
            Action {
                summary: "Find notes that hold all the words.".into(),
                details: true,
                ..action("search", search)
            },
            Action { summary: "List notes.".into(), details: true, ..action("list", list) },
            Action { summary: "Read one note.".into(), ..action("get", by_id.clone()) },
            Action {
                summary: "Delete a note for good.".into(),
                effect: Effect::Destructive,
                idempotent: true,
                aliases: vec!["rm".into()],
                data: Some(Arc::new(json!({"type": "null"}))),
                ..action("delete", by_id)
            },
        ],
    );
    surface.title = "Notes".into();
    surface.summary = "Short notes kept between conversations.".into();
    surface
}

/// One action with defaults everywhere, and a secret.
pub(crate) fn settings() -> Surface {
    let schema = json!({"type": "object", "properties": {
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
        "mode": {"enum": ["fast", "slow"], "default": "fast"},
        "window": {"type": "object", "properties":
            {"width": {"type": "integer", "default": 80}, "height": {"type": "integer"}}},
        "rows": {"type": "array", "items":
            {"type": "object", "properties": {"bold": {"type": "boolean", "default": false}}}},
        "token": {"type": "string", "writeOnly": true, "minLength": 8, "default": null},
        "keys": {"type": "array", "items": {"type": "string", "writeOnly": true}},
    }});
    let schema = {
        // A short token suffices for the tests of `prepare`.
        let mut schema = schema;
        schema["properties"]["token"]["minLength"] = json!(1);
        schema
    };
    surface("settings", vec![action("set", schema)])
}

/// A facade with many ordinary actions.
pub(crate) fn large(actions: usize) -> Surface {
    let names =
        ["create", "update", "delete", "list", "get", "search", "archive", "restore", "assign", "label"];
    let things = ["issue", "project", "comment", "milestone", "user", "board"];
    let actions = (0..actions).map(|index| {
        let (verb, thing) = (names[index % names.len()], things[index / names.len() % things.len()]);
        let schema = json!({"type": "object", "required": ["id"], "properties": {
            "id": {"type": "string", "description": format!("Which {thing}.")},
            "title": {"type": "string", "description": "One line.", "maxLength": 200},
            "state": {"type": "string", "enum": ["open", "closed"], "default": "open"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10}}});
        Action {
            summary: format!("{verb} a {thing} of the tracker, or several at once."),
            effect: if index % names.len() < 3 { Effect::Write } else { Effect::Read },
            ..action(&format!("{verb}_{thing}"), schema)
        }
    });
    surface("tracker", actions.collect())
}
