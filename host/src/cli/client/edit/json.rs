//! JSON, with or without comments.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstRootNode},
    errors::ParseError,
};
use serde_json::{Map, Value};

use super::{EditFault, SyntaxFault};

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
