//! Surfaces for benchmarks and for tests of crates above this one (feature `testing`).

use std::sync::Arc;

use loggia_facade::{Action, Effect, Object, Surface};
use serde_json::{Value, json};

/// What a large API is about, largest group first.
const RESOURCES: [&str; 40] = [
    "repository",
    "issue",
    "pull_request",
    "organization",
    "team",
    "user",
    "workflow_run",
    "check_suite",
    "code_scanning_alert",
    "secret",
    "dependabot_alert",
    "branch",
    "commit",
    "release",
    "package",
    "project",
    "gist",
    "webhook",
    "deployment",
    "environment",
    "runner",
    "artifact",
    "cache",
    "codespace",
    "copilot_seat",
    "migration",
    "reaction",
    "label",
    "milestone",
    "comment",
    "review",
    "invitation",
    "license",
    "rule_set",
    "discussion",
    "notification",
    "invoice",
    "payment_method",
    "subscription",
    "audit_log",
];

const VERBS: [(&str, &str, Effect); 30] = [
    ("list", "Lists", Effect::Read),
    ("get", "Returns", Effect::Read),
    ("create", "Creates", Effect::Write),
    ("update", "Updates", Effect::Write),
    ("delete", "Permanently deletes", Effect::Destructive),
    ("search", "Finds", Effect::Read),
    ("archive", "Archives", Effect::Write),
    ("restore", "Restores", Effect::Write),
    ("transfer", "Transfers", Effect::Write),
    ("lock", "Locks", Effect::Write),
    ("unlock", "Unlocks", Effect::Write),
    ("watch", "Subscribes to", Effect::Write),
    ("unwatch", "Unsubscribes from", Effect::Write),
    ("export", "Exports", Effect::Read),
    ("import", "Imports", Effect::Write),
    ("approve", "Approves", Effect::Write),
    ("reject", "Rejects", Effect::Write),
    ("assign", "Assigns people to", Effect::Write),
    ("unassign", "Removes people from", Effect::Write),
    ("rename", "Renames", Effect::Write),
    ("copy", "Copies", Effect::Write),
    ("move", "Moves", Effect::Write),
    ("enable", "Enables", Effect::Write),
    ("disable", "Disables", Effect::Write),
    ("replace", "Replaces", Effect::Write),
    ("count", "Counts", Effect::Read),
    ("compare", "Compares", Effect::Read),
    ("preview", "Previews", Effect::Read),
    ("retry", "Retries", Effect::Write),
    ("cancel", "Cancels", Effect::Destructive),
];

/// Generates a surface of up to 1,200 actions, as an importer makes it from the description of a REST API: grouped,
/// with aliases, and with schemas of about two kilobytes. The first action of each group comes before the second.
pub fn api_surface(actions: usize) -> Surface {
    let places = (0..actions).map(|index| (index % RESOURCES.len(), index / RESOURCES.len()));
    Surface {
        name: "hub".to_owned(),
        title: "Hub".to_owned(),
        version: "2026-11-01".to_owned(),
        summary: "The REST API of Hub: repositories, issues, pull requests, organizations and what belongs to them."
            .to_owned(),
        instructions: None,
        default_action: None,
        actions: places.map(|(resource, verb)| operation(RESOURCES[resource], VERBS[verb], verb)).collect(),
        views: Vec::new(),
        wants: Vec::new(),
    }
}

fn operation(resource: &str, (verb, does, effect): (&str, &str, Effect), nth: usize) -> Action {
    let thing = resource.replace('_', " ");
    let summary = format!(
        "{does} one {thing} of a repository or an organization. The token needs at least write access to it; \
         fine-grained tokens need the permission \"{thing}s\"."
    );
    Action {
        name: format!("{}_{verb}", plural(resource)),
        summary,
        effect,
        idempotent: effect == Effect::Read,
        open_world: true,
        long_running: false,
        details: false,
        aliases: vec![camel_case(&format!("{verb}_{resource}"))],
        needs: Vec::new(),
        group: Some(plural(resource)),
        resource: None,
        view: None,
        params: Arc::new(parameters(resource, nth)),
        data: None,
        examples: vec![object(json!({"owner": "octo", "repo": "loggia", format!("{resource}_id"): 42}))],
    }
}

fn parameters(resource: &str, nth: usize) -> Object {
    let thing = resource.replace('_', " ");
    let mut properties = object(json!({
        "owner": {"type": "string", "description": "The account owner of the repository. The name is not case sensitive."},
        "repo": {"type": "string", "description": "The name of the repository without the `.git` extension. The name is not case sensitive."},
        format!("{resource}_id"): {"type": "integer", "minimum": 1, "description": format!("The unique identifier of the {thing}.")},
        "state": {"type": "string", "enum": ["open", "closed", "all"], "default": "open",
            "description": format!("Indicates the state of the {thing}s to return.")},
        "sort": {"type": "string", "enum": ["created", "updated", "comments"], "default": "created",
            "description": "What to sort results by."},
        "since": {"type": "string", "format": "date-time",
            "description": "Only show results that were last updated after the given time. This is a timestamp in ISO 8601 format."},
        "per_page": {"type": "integer", "minimum": 1, "maximum": 100, "default": 30,
            "description": "The number of results per page (max 100)."},
        "page": {"type": "integer", "minimum": 1, "default": 1, "description": "The page number of the results to fetch."},
    }));
    if nth % 2 == 1 {
        properties.extend(object(json!({
            "sha": {"type": "string", "pattern": "^[0-9a-f]{40}$", "description": "The SHA of the commit."},
            "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 100,
                "description": format!("Labels to associate with this {thing}. Only users with push access can set labels.")},
            "settings": {"type": "object", "description": format!("Settings of the {thing}."), "properties": {
                "visibility": {"type": "string", "enum": ["public", "private", "internal"]},
                "name": {"type": ["string", "null"], "maxLength": 100, "description": "A name that people see."},
                "reviewers": {"type": "array", "items": {"$ref": "#/$defs/Actor"},
                    "description": "The people or teams that must approve a change."}}},
            "body": {"type": "string", "maxLength": 65536, "description": format!("The contents of the {thing}, as Markdown.")},
        })));
    }
    object(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": ["owner", "repo"],
        "$defs": {"Actor": {"type": "object", "required": ["type"], "properties": {
            "type": {"type": "string", "enum": ["User", "Team"], "description": "The kind of the actor."},
            "id": {"type": "integer", "description": "The id of the user or team who can review."}}}},
    }))
}

fn plural(resource: &str) -> String {
    match resource.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if resource.ends_with("ch") => format!("{resource}es"),
        None => format!("{resource}s"),
    }
}

fn camel_case(name: &str) -> String {
    let words = name.split('_').enumerate().map(|(index, word)| match (index, word.split_at_checked(1)) {
        (1.., Some((first, rest))) => first.to_uppercase() + rest,
        _ => word.to_owned(),
    });
    words.collect()
}

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}
