//! TOML: an entry is a table `[KEY.NAME]`.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table};

use super::{
    fault::{EditFault, SyntaxFault},
    lines::{line_end, position},
};

pub(super) fn read(text: &str) -> Result<Value, SyntaxFault> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        SyntaxFault { line, column, reason: error.message().to_owned() }
    })
}

pub(super) fn put(
    text: &str,
    key: &str,
    name: &str,
    entry: &Map<String, Value>,
) -> Result<String, EditFault> {
    let unusable = || EditFault::Form(format!("`{key}` is not a table"));
    let mut document = parse(text)?.into_mut();
    let servers = document.entry(key).or_insert_with(|| {
        let mut servers = Table::new();
        servers.set_implicit(true);
        Item::Table(servers)
    });
    if servers.is_inline_table() {
        let servers = servers.as_inline_table_mut().ok_or_else(unusable)?;
        servers.insert(name, toml_edit::Value::InlineTable(inline(entry)));
        return Ok(document.to_string());
    }
    let block = render(key, name, entry, line_end(text));
    match find_block(text, key, name)? {
        Some(place) => Ok(format!("{}{block}{}", &text[..place.start], &text[place.end..])),
        None if document.get(key).and_then(|servers| servers.get(name)).is_some() => {
            Err(EditFault::Form(format!("`{key}.{name}` is not written as a table")))
        }
        None => {
            let end = line_end(text);
            let finish = if text.is_empty() || text.ends_with('\n') { "" } else { end };
            let gap = if text.trim().is_empty() { "" } else { end };
            Ok(format!("{text}{finish}{gap}{block}"))
        }
    }
}

pub(super) fn remove(text: &str, key: &str, name: &str) -> Result<String, EditFault> {
    if let Some(place) = find_block(text, key, name)? {
        let (before, after) = (&text[..place.start], &text[place.end..]);
        // One of the empty lines around it goes with it.
        let end = line_end(text);
        let before = match before.strip_suffix(end) {
            Some(shorter) if shorter.ends_with('\n') && (after.is_empty() || after.starts_with(end)) => {
                shorter
            }
            _ => before,
        };
        return Ok(format!("{before}{after}"));
    }
    let mut document: DocumentMut = parse(text)?.into_mut();
    if let Some(servers) = document.get_mut(key).and_then(Item::as_table_like_mut) {
        servers.remove(name);
    }
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<Document<&str>, SyntaxFault> {
    Document::parse(text).map_err(|error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        SyntaxFault { line, column, reason: error.message().to_owned() }
    })
}

/// The lines of a table and of the tables in it, with the comments between them.
///
/// # Errors
///
/// If other tables stand between them.
fn find_block(text: &str, key: &str, name: &str) -> Result<Option<Range<usize>>, EditFault> {
    let document = parse(text)?;
    let Some(table) = document.get(key).and_then(|servers| servers.get(name)).and_then(Item::as_table) else {
        return Ok(None);
    };
    let mut place: Option<Range<usize>> = None;
    table_span(table, &mut place);
    let Some(place) = place else { return Ok(None) };
    // From the beginning of its first line to the end of its last one.
    let start = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.end..].find('\n').map_or(text.len(), |at| place.end + at + 1);
    Ok(text[start..].starts_with(['[', ' ', '\t']).then_some(start..end))
}

/// Widens a range by a table's header, its values, and its tables.
fn table_span(table: &Table, range: &mut Option<Range<usize>>) {
    let mut widen = |span: Option<Range<usize>>| {
        if let Some(span) = span {
            let known = range.clone().unwrap_or_else(|| span.clone());
            *range = Some(known.start.min(span.start)..known.end.max(span.end));
        }
    };
    widen(table.span());
    for (_, item) in table {
        match item {
            Item::Value(value) => widen(value.span()),
            Item::Table(_) | Item::ArrayOfTables(_) | Item::None => {}
        }
    }
    for (_, item) in table {
        if let Item::Table(inner) = item {
            table_span(inner, range);
        }
    }
}

fn render(key: &str, name: &str, entry: &Map<String, Value>, end: &str) -> String {
    let (mut body, mut tables) = (Table::new(), Table::new());
    for (member, value) in entry {
        body.insert(member, Item::Value(to_value(value)));
    }
    let mut servers = Table::new();
    servers.set_implicit(true);
    servers.insert(name, Item::Table(body));
    tables.insert(key, Item::Table(servers));
    DocumentMut::from(tables).to_string().replace('\n', end)
}

fn to_value(value: &Value) -> toml_edit::Value {
    match value {
        // TOML has no null; no entry has one.
        Value::Null => "".into(),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => toml_edit::Value::Array(items.iter().map(to_value).collect::<Array>()),
        Value::Object(members) => toml_edit::Value::InlineTable(inline(members)),
    }
}

fn inline(members: &Map<String, Value>) -> InlineTable {
    members.iter().map(|(key, value)| (key.as_str(), to_value(value))).collect()
}
