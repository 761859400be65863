//! Realistic surfaces, by which the forms are measured.

use loggia_facade::{Action, Effect, Surface};
use serde_json::{Value, json};

use crate::tests::fixture;

/// A larger facade, with schemas as schemars generates them.
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
        ..fixture::action(name, schema(name, properties, required))
    };
    let due = || json!({"type": ["string", "null"], "format": "date", "description": "The day by which it is to be finished."});
    let tags = |text: &str| json!({"type": "array", "items": {"type": "string"}, "default": [], "description": text});
    let member =
        || json!({"type": "string", "format": "email", "description": "The e-mail address of the member."});
    let role = || {
        json!({"type": "string", "enum": ["viewer", "editor", "owner"], "default": "viewer",
        "description": "What the member may do in the project."})
    };
    let mut surface = fixture::surface(
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

/// An issue tracker, where most actions take a repository.
pub(crate) fn issues() -> Surface {
    let text = |text: &str| json!({"type": "string", "description": text});
    let words = |text: &str| json!({"type": "array", "items": {"type": "string"}, "description": text});
    let choice = |words: &[&str], default: Option<&str>, text: &str| {
        let mut out = json!({"type": "string", "enum": words, "description": text});
        default.into_iter().for_each(|word| out["default"] = word.into());
        out
    };
    let parameters = json!({
        "owner": text("The account that owns the repository."),
        "repo": text("The name of the repository, without its owner."),
        "number": {"type": "integer", "minimum": 1, "description": "The number of the issue."},
        "title": {"type": "string", "maxLength": 256, "description": "The issue's title, in one line."},
        "body": text("The text, as Markdown."),
        "labels": words("The names of labels."),
        "assignees": words("The accounts that work on it."),
        "milestone": {"type": "integer", "description": "The number of the milestone it belongs to."},
        "state": choice(&["open", "closed"], None, "Whether the issue is open or closed."),
        "sort": choice(&["created", "updated", "comments"], Some("created"), "By what the results are ordered."),
        "direction": choice(&["asc", "desc"], Some("desc"), "In which direction they are ordered."),
        "page": {"type": "integer", "minimum": 1, "default": 1, "description": "Which page of the results to return."},
        "per_page": {"type": "integer", "minimum": 1, "maximum": 100, "default": 30, "description": "How many results a page holds."},
        "query": text("What to look for, in the search syntax of the tracker."),
        "comment": {"type": "integer", "description": "The id of the comment, as `comments` shows it."},
        "reason": choice(&["resolved", "off-topic", "spam"], None, "Why it is locked."),
    });
    let made =
        |name: &str, effect, names: &str, summary: &str| made(&parameters, name, effect, names, summary);
    let mut surface = fixture::surface(
        "issues",
        vec![
            made(
                "list",
                Effect::Read,
                "owner* repo* state labels sort direction page per_page",
                "List the issues of a repository, filtered and ordered.",
            ),
            made(
                "search",
                Effect::Read,
                "query* sort direction page per_page",
                "Search issues across the repositories you can see.",
            ),
            made(
                "get",
                Effect::Read,
                "owner* repo* number*",
                "Read one issue with its labels, assignees and milestone.",
            ),
            made(
                "create",
                Effect::Write,
                "owner* repo* title* body labels assignees milestone",
                "Open a new issue in a repository.",
            ),
            made(
                "update",
                Effect::Write,
                "owner* repo* number* title body state labels assignees milestone",
                "Change an issue; what is left out stays as it is.",
            ),
            made(
                "comments",
                Effect::Read,
                "owner* repo* number* page per_page",
                "List the comments on an issue, the oldest first.",
            ),
            made("comment", Effect::Write, "owner* repo* number* body*", "Add a comment to an issue."),
            made(
                "edit_comment",
                Effect::Write,
                "owner* repo* comment* body*",
                "Change the text of a comment that you wrote.",
            ),
            made(
                "delete_comment",
                Effect::Destructive,
                "owner* repo* comment*",
                "Delete a comment for good.",
            ),
            made(
                "assign",
                Effect::Write,
                "owner* repo* number* assignees*",
                "Give an issue to accounts, beside those who have it.",
            ),
            made(
                "lock",
                Effect::Write,
                "owner* repo* number* reason",
                "Lock an issue, so that only members can comment on it.",
            ),
            made(
                "unlock",
                Effect::Write,
                "owner* repo* number*",
                "Let everybody comment on a locked issue again.",
            ),
        ],
    );
    surface.title = "Issues".into();
    surface.summary = "Issues of your repositories and what is said about them.".into();
    surface
}

/// A to-do list: four actions, like a typical small facade.
pub(crate) fn tasks() -> Surface {
    let parameters = json!({
        "id": {"type": "string", "description": "The id of the task, as `list` shows it."},
        "title": {"type": "string", "description": "What is to be done, in one line."},
        "notes": {"type": "string", "description": "Anything worth knowing, as Markdown."},
        "due": {"type": ["string", "null"], "format": "date", "description": "The day by which it is to be done."},
        "labels": {"type": "array", "items": {"type": "string"}, "description": "Words to find the task by."},
        "priority": {"type": "string", "enum": ["low", "normal", "high"], "default": "normal", "description": "How urgent the task is."},
        "done": {"type": "boolean", "default": false, "description": "Whether to list finished tasks too."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "How many tasks to return at most."},
    });
    let made =
        |name: &str, effect, names: &str, summary: &str| made(&parameters, name, effect, names, summary);
    let mut surface = fixture::surface(
        "tasks",
        vec![
            made("create", Effect::Write, "title* notes due labels priority", "Create a task in your list."),
            made("list", Effect::Read, "labels done limit", "List your tasks, the most urgent first."),
            made(
                "update",
                Effect::Write,
                "id* title notes due labels priority",
                "Change a task; what is left out stays as it is.",
            ),
            made("delete", Effect::Destructive, "id*", "Delete a task for good."),
        ],
    );
    surface.title = "Tasks".into();
    surface.summary = "Your list of things to do.".into();
    surface
}

/// An action with some of the parameters; `*` marks required ones.
fn made(parameters: &Value, name: &str, effect: Effect, names: &str, summary: &str) -> Action {
    let mut properties = json!({});
    let mut required = Vec::new();
    for name in names.split(' ') {
        let bare = name.trim_end_matches('*');
        properties[bare] = parameters[bare].clone();
        if bare != name {
            required.push(bare);
        }
    }
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Action { summary: summary.into(), effect, ..fixture::action(name, schema) }
}
