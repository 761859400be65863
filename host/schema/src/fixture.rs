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
        wants: Vec::new(),
    }
}

/// A facade with one action, of these parameters.
pub(crate) fn one(properties: Value, required: Value) -> Surface {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    surface("one", vec![action("go", schema)])
}

/// What an author of a small facade writes, as the SDK and schemars put it.
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

/// One action with everything that has a default, and a secret.
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
        // A token of one character is fine for the tests of `prepare`.
        let mut schema = schema;
        schema["properties"]["token"]["minLength"] = json!(1);
        schema
    };
    surface("settings", vec![action("set", schema)])
}

/// A facade with many actions of the usual kind.
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

/// What an author of a larger facade writes: real descriptions, and the schemas that schemars makes of Rust types.
pub(crate) fn projects() -> Surface {
    let schema = |title: &str, properties: Value, required: Value| {
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "type": "object",
            "properties": properties, "required": required})
    };
    let project = || json!({"type": "string", "description": "The id of the project, as `list` and `search` show it, for example `p_42`."});
    let limit = || {
        json!({"type": "integer", "format": "uint32", "minimum": 1, "maximum": 100, "default": 20,
            "description": "How many results to return at most."})
    };
    let cursor = || json!({"type": ["string", "null"], "description": "Where to go on: the `cursor` of the result before."});
    let status = |more: Value| {
        let mut schema = json!({"anyOf": [{"type": "string", "enum": ["planned", "active", "paused", "done"]}, {"type": "null"}]});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let write = Effect::Write;
    let made = |name: &str, summary: &str, effect: Effect, properties: Value, required: Value| Action {
        summary: summary.into(),
        effect,
        ..action(name, schema(name, properties, required))
    };
    let due = || json!({"type": ["string", "null"], "format": "date", "description": "The day by which it is to be finished."});
    let tags = |text: &str| json!({"type": "array", "items": {"type": "string"}, "default": [], "description": text});
    let member =
        || json!({"type": "string", "format": "email", "description": "The e-mail address of the member."});
    let role = || {
        json!({"type": "string", "enum": ["viewer", "editor", "owner"], "default": "viewer",
        "description": "What the member may do in the project."})
    };
    let mut surface = surface(
        "projects",
        vec![
            Action {
                details: true,
                ..made(
                    "list",
                    "List the projects that you can see, the most recently changed first.",
                    Effect::Read,
                    json!({
                    "status": status(json!({"description": "Only projects in this state."})),
                    "owner": {"type": ["string", "null"], "format": "email", "description": "Only projects that this person owns."},
                    "limit": limit(), "cursor": cursor()}),
                    json!([]),
                )
            },
            Action {
                details: true,
                ..made(
                    "search",
                    "Find projects whose name, description or tags hold all the given words.",
                    Effect::Read,
                    json!({
                    "query": {"type": "string", "minLength": 2, "description": "The words to look for; all of them must occur."},
                    "tags": tags("Only projects that have all of these tags."),
                    "include_archived": {"type": "boolean", "default": false, "description": "Whether to search archived projects too."},
                    "limit": limit(), "cursor": cursor()}),
                    json!(["query"]),
                )
            },
            Action {
                details: true,
                ..made(
                    "get",
                    "Read one project with its members, its milestones and its current state.",
                    Effect::Read,
                    json!({"id": project()}),
                    json!(["id"]),
                )
            },
            made(
                "create",
                "Create a project. You become its owner.",
                write,
                json!({
                "name": {"type": "string", "minLength": 1, "maxLength": 80, "description": "The name that people will see; unique among your projects."},
                "description": {"type": "string", "maxLength": 4000, "default": "", "description": "What the project is about, as Markdown."},
                "tags": tags("Words to find the project by."), "due": due(),
                "template": {"type": ["string", "null"], "description": "The id of a project whose milestones and settings are copied."}}),
                json!(["name"]),
            ),
            made(
                "update",
                "Change the name, description, state or due date of a project; what is left out stays.",
                write,
                json!({
                "id": project(),
                "name": {"type": ["string", "null"], "minLength": 1, "maxLength": 80, "description": "The new name."},
                "description": {"type": ["string", "null"], "maxLength": 4000, "description": "The new description, as Markdown."},
                "status": status(json!({"description": "The new state."})), "due": due()}),
                json!(["id"]),
            ),
            Action {
                idempotent: true,
                ..made(
                    "archive",
                    "Archive a project: nobody can change it any more, and lists leave it out.",
                    write,
                    json!({
                    "id": project(),
                    "reason": {"type": ["string", "null"], "maxLength": 200, "description": "Why it is archived; shown to its members."}}),
                    json!(["id"]),
                )
            },
            Action {
                idempotent: true,
                ..made(
                    "restore",
                    "Make an archived project active again.",
                    write,
                    json!({"id": project()}),
                    json!(["id"]),
                )
            },
            Action {
                idempotent: true,
                ..made(
                    "delete",
                    "Delete an archived project with everything in it, for good.",
                    Effect::Destructive,
                    json!({
                    "id": project(),
                    "name": {"type": "string", "description": "The project's name once more, so that the wrong one is not deleted."}}),
                    json!(["id", "name"]),
                )
            },
            made(
                "add_member",
                "Invite a person to a project, or give a member another role.",
                write,
                json!({
                "id": project(), "member": member(), "role": role(),
                "message": {"type": ["string", "null"], "maxLength": 500, "description": "A sentence that goes into the invitation."}}),
                json!(["id", "member"]),
            ),
            Action {
                idempotent: true,
                ..made(
                    "remove_member",
                    "Take a person out of a project; what they wrote stays.",
                    Effect::Destructive,
                    json!({"id": project(), "member": member()}),
                    json!(["id", "member"]),
                )
            },
            made(
                "add_milestone",
                "Add a milestone to a project.",
                write,
                json!({
                "id": project(),
                "title": {"type": "string", "minLength": 1, "maxLength": 120, "description": "What will be reached, in a few words."},
                "due": due(),
                "depends_on": {"type": "array", "items": {"type": "string"}, "uniqueItems": true, "default": [],
                    "description": "The ids of milestones that must be reached before."}}),
                json!(["id", "title"]),
            ),
            Action {
                idempotent: true,
                ..made(
                    "complete_milestone",
                    "Mark a milestone as reached; fails while one that it depends on is open.",
                    write,
                    json!({
                    "id": project(),
                    "milestone": {"type": "string", "description": "The id of the milestone, as `get` shows it."},
                    "note": {"type": ["string", "null"], "description": "What came of it."}}),
                    json!(["id", "milestone"]),
                )
            },
            Action {
                details: true,
                ..made(
                    "timeline",
                    "Show what happened in a project, the newest first.",
                    Effect::Read,
                    json!({
                    "id": project(),
                    "since": {"type": ["string", "null"], "format": "date-time", "description": "Only what happened after this moment."},
                    "kinds": {"type": "array", "items": {"type": "string", "enum": ["created", "changed", "member", "milestone", "comment"]},
                        "default": [], "description": "Only events of these kinds; all, if empty."},
                    "limit": limit(), "cursor": cursor()}),
                    json!(["id"]),
                )
            },
            Action {
                long_running: true,
                open_world: true,
                ..made(
                    "export",
                    "Export a whole project as a file and upload it to your storage.",
                    Effect::Read,
                    json!({
                    "id": project(),
                    "format": {"type": "string", "enum": ["json", "csv", "markdown"], "default": "json", "description": "The format of the file."},
                    "with_comments": {"type": "boolean", "default": true, "description": "Whether the comments are exported too."}}),
                    json!(["id"]),
                )
            },
        ],
    );
    surface.title = "Projects".into();
    surface.summary = "Projects of your team: their state, members and milestones.".into();
    surface
}
