//! Reference page, generated from the tables. A test compares it with `docs/operators/config.md`.

use std::fmt::Write;

use clap::builder::PossibleValue;
use serde_json::Value as Json;

use super::{
    kind::{KeySpec, TableSpec, ValueKind},
    plugin_manifest::PluginManifest,
    root_table::Settings,
    value::SettingValue as _,
};

const HEAD: &str = "\
# Settings: loggia.toml

All options of `loggia serve` can be set in a file: `loggia serve --config loggia.toml`, or `LOGGIA_CONFIG`. Loggia reads no file
unless one is named, so that the folder in which a client starts the server has no influence. The command line overrides the file.
`loggia config check` reports all mistakes at once, each with its line; unknown keys are mistakes. The file may be a pipe, and has at
most 1MiB. This page is the output of `loggia config reference`. `loggia config schema` prints the JSON Schema of the file, which is
also in `docs/loggia.schema.json`, for editors.

Relative paths start at the file; `~` is your home directory. In every string, `${NAME}` expands to the environment variable NAME, and
`${NAME:-default}` to the default if the variable is unset or empty. Sizes are whole numbers of B, KiB, MiB or GiB, times of ms, s,
m or h.
";

/// Example file with every key.
const EXAMPLE: &str = include_str!("example.toml");

const KEY_HEAD: &str = "| key | value | default | meaning |\n|---|---|---|---|\n";

/// Appends text. Writing to a string cannot fail.
macro_rules! add {
    ($page:expr, $($text:tt)*) => { let _ = write!($page, $($text)*); };
}

/// Renders the page in Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    if let ValueKind::Table(table) = Settings::kind() {
        section(&mut page, &table, "", "Top level");
    }
    add!(page, "\n## Complete example\n\n```toml\n{EXAMPLE}```\n");
    page
}

/// Renders the keys of `plugin.toml`, for `docs/authors/builders.md`.
pub fn manifest_reference() -> String {
    let mut page = KEY_HEAD.to_owned();
    if let ValueKind::Table(table) = PluginManifest::kind() {
        table.keys.iter().for_each(|key| row(&mut page, key));
    }
    page
}

/// Heading of a table: one, a list, or one for each name.
#[derive(Clone, Copy)]
enum TableForm {
    Single,
    List,
    Named,
}

/// Appends a table of the file: its keys, then the tables in it.
fn section(page: &mut String, table: &TableSpec, path: &str, title: &str) {
    add!(page, "\n## {title}\n");
    if !path.is_empty() {
        add!(page, "\n{}\n", line(table.means));
    }
    let (tables, keys): (Vec<_>, Vec<_>) = table.keys.iter().partition(|key| inner(&key.kind).is_some());
    if !keys.is_empty() {
        add!(page, "\n{KEY_HEAD}");
    }
    for key in keys {
        row(page, key);
    }
    for key in tables {
        let path = if path.is_empty() { key.name.clone() } else { format!("{path}.{}", key.name) };
        if let Some((table, form)) = inner(&key.kind) {
            let path = if let TableForm::Named = form { format!("{path}.NAME") } else { path };
            let title =
                if let TableForm::List = form { format!("`[[{path}]]`") } else { format!("`[{path}]`") };
            section(page, table, &path, &title);
        }
    }
}

fn row(page: &mut String, key: &KeySpec) {
    let default = match &key.default {
        None if key.is_required => "required".to_owned(),
        None | Some(Json::Null) => String::new(),
        Some(Json::Array(items)) if items.is_empty() => "none".to_owned(),
        Some(default) => format!("`{default}`"),
    };
    add!(page, "| `{}` | {} | {default} | {} |\n", key.name, kind(&key.kind), line(key.means));
}

/// Returns the table that a key contains, and its form.
fn inner(kind: &ValueKind) -> Option<(&TableSpec, TableForm)> {
    match kind {
        ValueKind::Table(table) => Some((table, TableForm::Single)),
        ValueKind::Optional(kind) | ValueKind::TextOr(kind) => inner(kind),
        ValueKind::List(item) => inner(item).map(|(table, _)| (table, TableForm::List)),
        ValueKind::Map(item) => inner(item).map(|(table, _)| (table, TableForm::Named)),
        _ => None,
    }
}

fn kind(kind: &ValueKind) -> String {
    match kind {
        ValueKind::Text | ValueKind::Address => "text".into(),
        ValueKind::Any => "table".into(),
        ValueKind::Flag => "`true` or `false`".into(),
        ValueKind::Number(_) => "number".into(),
        ValueKind::Quantity(name, ..) if *name == "Size" => "size".into(),
        ValueKind::Quantity(..) => "time".into(),
        ValueKind::Words(_, _, words) => {
            let word = |word: &PossibleValue| format!("`{:?}`", word.get_name());
            words.iter().map(word).collect::<Vec<_>>().join(", ")
        }
        ValueKind::List(item) | ValueKind::Set(item) => match &**item {
            ValueKind::Text => "list of texts".into(),
            item => format!("list of {}", self::kind(item)),
        },
        ValueKind::Optional(kind) => self::kind(kind),
        ValueKind::Map(item) if matches!(**item, ValueKind::Text) => "table of texts".into(),
        ValueKind::Table(_) | ValueKind::TextOr(_) | ValueKind::Map(_) => String::new(),
    }
}

fn line(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
