//! The whole grammar of `loggia.toml` as one page, from its JSON Schema. `docs/operators/config.md` is this page; a test holds it so.

use std::fmt::Write;

use serde_json::Value;

use super::settings::Settings;

const HEAD: &str = "\
# Settings: loggia.toml

All that `loggia serve` takes can stand in a file: `loggia serve --config loggia.toml`, or `LOGGIA_CONFIG`. No file is read
unless it is named, so that a folder in which a client happens to start the server decides nothing. What the command line says
goes before what the file says. `loggia config check` names every mistake at once, each with its line; a key that does not exist is one. The file may be a pipe, and
has at most 1MiB.
This page is what `loggia config reference` prints; `loggia config schema` prints the JSON Schema of the file, which is also
`docs/loggia.schema.json`, for editors.

Relative paths start at the file; `~` is your home. In every string, `${NAME}` is filled in with the environment variable NAME, and
`${NAME:-default}` with the default where the variable is not set or empty. Sizes are whole numbers of B, KiB, MiB or GiB,
times of ms, s, m or h.
";

/// Every key, as an operator writes it.
const EXAMPLE: &str = include_str!("example.toml");

/// Adds text. Writing to a string does not fail.
macro_rules! add {
    ($page:expr, $($text:tt)*) => { let _ = write!($page, $($text)*); };
}

/// The page, in Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    let schema = Settings::json_schema();
    section(&mut page, &schema, "", &schema);
    add!(page, "\n## All of it\n\n```toml\n{EXAMPLE}```\n");
    page
}

/// A table of the file: its keys, then the tables within it.
fn section(page: &mut String, root: &Value, name: &str, at: &Value) {
    let Some(keys) = at["properties"].as_object() else { return };
    match name {
        "" => page.push_str("\n## Without a section\n"),
        name => page.push_str(&format!("\n## `{name}`\n")),
    }
    if let (false, Some(means)) = (name.is_empty(), at["description"].as_str()) {
        add!(page, "\n{}\n", line(means));
    }
    let within = |(key, value): (&String, &Value)| {
        table(root, value).map(|(at, many)| (key.clone(), at.clone(), many))
    };
    let tables: Vec<(String, Value, bool)> = keys.iter().filter_map(within).collect();
    let is_plain = |key: &String| !tables.iter().any(|(table, ..)| table == key);
    if keys.keys().any(is_plain) {
        add!(page, "\n| key | value | left out | meaning |\n|---|---|---|---|\n");
    }
    for (key, value) in keys.iter().filter(|(key, _)| is_plain(key)) {
        row(page, root, key, value, at);
    }
    for (key, at, many) in tables {
        let path = if name.is_empty() { key } else { format!("{}.{key}", name.trim_matches(['[', ']'])) };
        section(page, root, &if many { format!("[[{path}]]") } else { format!("[{path}]") }, &at);
    }
}

fn row(page: &mut String, root: &Value, key: &str, value: &Value, of: &Value) {
    let left_out = match &value["default"] {
        Value::Null if is_required(of, key) => "must be given".to_owned(),
        Value::Null => String::new(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        default => format!("`{default}`"),
    };
    let means = value["description"].as_str().map_or(String::new(), line);
    add!(page, "| `{key}` | {} | {left_out} | {means} |\n", kind(root, value));
}

fn is_required(of: &Value, key: &str) -> bool {
    of["required"].as_array().is_some_and(|keys| keys.iter().any(|required| required == key))
}

/// Where a value is told elsewhere, that.
fn resolved<'a>(root: &'a Value, value: &'a Value) -> &'a Value {
    let elsewhere = value["$ref"].as_str().or_else(|| {
        let either = value["anyOf"].as_array()?;
        either.iter().find_map(|one| one["$ref"].as_str())
    });
    elsewhere.and_then(|at| root.pointer(at.strip_prefix('#')?)).unwrap_or(value)
}

/// The table, or the tables, that a key holds.
fn table<'a>(root: &'a Value, value: &'a Value) -> Option<(&'a Value, bool)> {
    let at = resolved(root, value);
    let item = resolved(root, &at["items"]);
    match (at["properties"].as_object(), item["properties"].as_object()) {
        (Some(_), _) => Some((at, false)),
        (None, Some(_)) => Some((item, true)),
        (None, None) => None,
    }
}

/// What a value is, in a few words.
fn kind(root: &Value, value: &Value) -> String {
    let at = resolved(root, value);
    let words = |at: &Value| -> Option<String> {
        let words = match (&at["enum"], &at["oneOf"]) {
            (Value::Array(words), _) => words.iter().collect::<Vec<_>>(),
            (_, Value::Array(each)) => each.iter().flat_map(named).collect(),
            _ => return None,
        };
        Some(words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "))
    };
    if let Some(words) = words(at) {
        return words;
    }
    let kinds = match &at["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned().unwrap_or_default(),
        kind => kind.clone(),
    };
    match kinds.as_str() {
        Some("string") if at["pattern"].as_str().is_some_and(|pattern| pattern.contains("KiB")) => {
            "size".into()
        }
        Some("string") if at["pattern"].as_str().is_some_and(|pattern| pattern.contains("ms")) => {
            "time".into()
        }
        Some("string") => "text".into(),
        Some("integer") => "number".into(),
        Some("boolean") => "`true` or `false`".into(),
        Some("array") => match words(resolved(root, &at["items"])) {
            Some(words) => format!("list of {words}"),
            None => "list of texts".into(),
        },
        _ => String::new(),
    }
}

/// The words of one of several ways.
fn named(one: &Value) -> Vec<&Value> {
    match (&one["const"], &one["enum"]) {
        (Value::Null, Value::Array(words)) => words.iter().collect(),
        (Value::Null, _) => Vec::new(),
        (word, _) => vec![word],
    }
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
