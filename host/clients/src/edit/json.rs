//! JSON, with or without comments.

use jsonc_parser::{
    CollectOptions, ParseOptions, ast,
    cst::{CstInputValue, CstObject, CstRootNode},
    errors::ParseError,
    parse_to_ast,
};
use serde_json::{Map, Value};

use super::fault::{EditFault, SyntaxFault};

/// What editors and clients read: comments and trailing commas, and nothing else of JSON5.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};
const BOM: char = '\u{feff}';

pub(super) fn read(text: &str) -> Result<Value, SyntaxFault> {
    let root = parse(text)?;
    match root.value() {
        None => Ok(Value::Object(Map::new())),
        Some(value) => Ok(value.to_serde_value().unwrap_or_default()),
    }
}

pub(super) fn put(
    text: &str,
    key: &str,
    name: &str,
    entry: &Map<String, Value>,
) -> Result<String, EditFault> {
    let root = parse(text)?;
    if let Some(after) = put_inline(text, key, name, entry) {
        return Ok(after);
    }
    let whole = root
        .object_value_or_create()
        .ok_or_else(|| EditFault::Form("the file does not hold an object".into()))?;
    let servers = whole.object_value_or_create(key).ok_or_else(|| not_an_object(key))?;
    let value = to_input(&Value::Object(entry.clone()));
    match servers.get(name) {
        Some(known) => known.set_value(value),
        None => drop(servers.append(name, value)),
    }
    Ok(finish(text, &root))
}

pub(super) fn remove(text: &str, key: &str, name: &str) -> Result<String, EditFault> {
    let root = parse(text)?;
    let servers: CstObject =
        root.object_value().and_then(|whole| whole.object_value(key)).ok_or_else(|| not_an_object(key))?;
    if let Some(known) = servers.get(name) {
        known.remove();
    }
    Ok(finish(text, &root))
}

/// Puts an entry into an object that is written on one line, which stays one.
fn put_inline(text: &str, key: &str, name: &str, entry: &Map<String, Value>) -> Option<String> {
    let start = text.len() - text.trim_start_matches(BOM).len();
    let parsed = parse_to_ast(&text[start..], &CollectOptions::default(), &OPTIONS).ok()?;
    let ast::Value::Object(root) = parsed.value? else { return None };
    let entry = Value::Object(entry.clone());
    let (object, added) = match root.get_object(key) {
        Some(servers) => (servers, format!("{}: {entry}", Value::from(name))),
        None if root.get(key).is_some() => return None,
        None => (&root, format!("{}: {{{}: {entry}}}", Value::from(key), Value::from(name))),
    };
    if text[start + object.range.start..start + object.range.end].contains('\n') {
        return None;
    }
    if let Some(known) = object.get(name).filter(|_| root.get_object(key).is_some()) {
        let (from, to) = (start + known.range.start, start + known.range.end);
        return Some(format!("{}{added}{}", &text[..from], &text[to..]));
    }
    let last = start + object.properties.last()?.range.end;
    // After the last member, and after a comma behind it, which then follows the new one.
    Some(match text[last..start + object.range.end].split_once(',') {
        Some((gap, _)) => {
            let at = last + gap.len() + 1;
            format!("{} {added},{}", &text[..at], &text[at..])
        }
        None => format!("{}, {added}{}", &text[..last], &text[last..]),
    })
}

fn not_an_object(key: &str) -> EditFault {
    EditFault::Form(format!("`{key}` is not an object"))
}

fn finish(before: &str, root: &CstRootNode) -> String {
    let bom = if before.starts_with(BOM) { "\u{feff}" } else { "" };
    format!("{bom}{root}")
}

fn parse(text: &str) -> Result<CstRootNode, SyntaxFault> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    CstRootNode::parse(text, &OPTIONS).map_err(|error: ParseError| SyntaxFault {
        line: error.line_display(),
        column: error.column_display(),
        reason: error.kind().to_string(),
    })
}

fn to_input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(to_input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), to_input(value))).collect())
        }
    }
}
