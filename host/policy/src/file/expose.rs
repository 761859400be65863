//! `[expose]`: publishing options.

use loggia_schema::{SchemaForm, ToolSplit};

use crate::{
    document::{
        field::Field,
        key::{Key, Section},
        problem::Problems,
    },
    model::Exposed,
};

pub(super) const EXPOSE: Section = Section {
    name: "expose",
    means: "How the plugin is published to clients.",
    keys: &[
        Key {
            name: "name",
            kind: "name",
            default: Some(""),
            means: "the tool's name, instead of the plugin's own: a lowercase letter, then at most 31 lowercase \
                    letters, digits, `_` or `-`. A name, with its callers' rights and its state, belongs to the file \
                    that served it first; this key assigns it to this file",
            example: "\"notes\"",
            inner: &[],
        },
        Key {
            name: "schema",
            kind: "word",
            default: Some(""),
            means: "what the tool's input schema shows of its actions: `\"flat\"`, `\"signatures\"`, `\"names\"`, \
                    `\"union\"`, `\"raw\"` or `\"granular\"`; default: `--schema`",
            example: "\"signatures\"",
            inner: &[],
        },
        Key {
            name: "split",
            kind: "word",
            default: Some(""),
            means: "`\"none\"`, or `\"effect\"`: `notes` for read actions and `notes_write` for the others, so that a \
                    client's \"always allow\" can be limited to reading; default: `--split`",
            example: "\"effect\"",
            inner: &[],
        },
        Key {
            name: "output_schema",
            kind: "true or false",
            default: Some("false"),
            means: "whether the tool publishes a schema of its results",
            example: "true",
            inner: &[],
        },
        Key {
            name: "always_load",
            kind: "true or false",
            default: Some("false"),
            means: "whether clients that load tools on demand load this one at once (`anthropic/alwaysLoad`), and the \
                    server's instructions name it first: for the few that nearly every conversation needs",
            example: "true",
            inner: &[],
        },
        Key {
            name: "views",
            kind: "true or false",
            default: Some("false"),
            means: "whether clients of MCP Apps show the plugin's views to people: its HTML and scripts, isolated in a frame. \
                    Views may know what their calls return, and browsers let them send it, by WebRTC or look-ups of names, \
                    so enable it only for a plugin that you would grant the network",
            example: "true",
            inner: &[],
        },
    ],
};

/// Reads the section.
pub(super) fn read(field: &Field<'_>, problems: &mut Problems) -> Exposed {
    let mut exposed = Exposed::default();
    let Some(fields) = field.fields(EXPOSE.names(), problems) else { return exposed };
    exposed.name = fields.get("name").and_then(|field| name(&field, problems));
    let forms = SchemaForm::ALL.map(|form| (form.as_str(), form));
    exposed.form = fields.get("schema").and_then(|field| field.word(&forms, problems));
    let splits = [("none", ToolSplit::None), ("effect", ToolSplit::Effect)];
    exposed.split = fields.get("split").and_then(|field| field.word(&splits, problems));
    exposed.output_schema =
        fields.get("output_schema").and_then(|field| field.flag(problems)).unwrap_or_default();
    exposed.always_load =
        fields.get("always_load").and_then(|field| field.flag(problems)).unwrap_or_default();
    exposed.views = fields.get("views").and_then(|field| field.flag(problems)).unwrap_or_default();
    exposed
}

fn name(field: &Field<'_>, problems: &mut Problems) -> Option<String> {
    let text = field.text(problems)?;
    if is_name(&text.value) {
        return Some(text.value.clone());
    }
    let rule = "must be a lowercase letter, then at most 31 lowercase letters, digits, `_` or `-`";
    field.report(format!("{rule} (got {})", text.quoted()), problems);
    None
}

/// Returns true if a text matches `^[a-z][a-z0-9_-]{0,31}$`.
fn is_name(text: &str) -> bool {
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    text.len() <= 32 && text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(rest)
}
