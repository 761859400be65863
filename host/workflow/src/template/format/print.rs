//! Values as Go prints them.

use serde_json::Value;

use super::escape;
use crate::template::{
    error::EvalError,
    limits,
    output::TextWriter,
    value::{ExactNumber, TemplateMap, TemplateValue},
};

/// Text of a missing or null value printed by an action.
pub(crate) const NO_VALUE: &str = "<no value>";

/// Text of a missing or null value within other data and in functions.
pub(crate) const NIL: &str = "<nil>";

/// Writes a value as an action prints it.
pub(crate) fn write_action(value: TemplateValue<'_>, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    if value.is_nil() { out.push(NO_VALUE) } else { write_plain(value, out) }
}

/// Writes a value as `print` and `%v` do.
pub(crate) fn write_plain(value: TemplateValue<'_>, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    write(value, out, 0, &|value, out| match value {
        TemplateValue::Bool(bool) => out.push(if bool { "true" } else { "false" }),
        TemplateValue::Number(number) => {
            out.budget.spend(number.cost())?;
            out.push(&number.to_text())
        }
        TemplateValue::Text(text) => out.push(text),
        _ => out.push(NIL),
    })
}

/// Writes lists and maps as Go does; `leaf` writes all other values.
pub(crate) fn write(
    value: TemplateValue<'_>,
    out: &mut TextWriter<'_>,
    depth: usize,
    leaf: LeafWriter<'_>,
) -> Result<(), EvalError> {
    if depth > limits::DEPTH {
        return Err(depth_error());
    }
    // A function per kind keeps stack frames small: recursion takes one frame per level.
    match value {
        TemplateValue::List(list) => write_list(list, out, depth, leaf),
        TemplateValue::Map(map) => write_map(map, out, depth, leaf),
        value => leaf(value, out),
    }
}

/// Writer of values that are neither lists nor maps.
type LeafWriter<'l> = &'l dyn Fn(TemplateValue<'_>, &mut TextWriter<'_>) -> Result<(), EvalError>;

fn write_list(
    list: &[Value],
    out: &mut TextWriter<'_>,
    depth: usize,
    leaf: LeafWriter<'_>,
) -> Result<(), EvalError> {
    out.push("[")?;
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            out.push(" ")?;
        }
        write(TemplateValue::from(item), out, depth + 1, leaf)?;
    }
    out.push("]")
}

fn write_map(
    map: TemplateMap<'_>,
    out: &mut TextWriter<'_>,
    depth: usize,
    leaf: LeafWriter<'_>,
) -> Result<(), EvalError> {
    out.push("map[")?;
    out.budget.spend(4 * map.len())?;
    for (index, (name, item)) in map.sorted().into_iter().enumerate() {
        if index > 0 {
            out.push(" ")?;
        }
        leaf(TemplateValue::Text(name), out)?;
        out.push(":")?;
        write(TemplateValue::from(item), out, depth + 1, leaf)?;
    }
    out.push("]")
}

pub(crate) fn depth_error() -> EvalError {
    EvalError::new(format!("template expansion depth limit exceeded: {}", limits::DEPTH))
}

/// Writes JSON as Go's `json.Marshal` does: sorted names, escaped HTML.
pub(crate) fn write_json(
    value: TemplateValue<'_>,
    out: &mut TextWriter<'_>,
    depth: usize,
) -> Result<(), EvalError> {
    if depth > limits::DEPTH {
        return Err(depth_error());
    }
    match value {
        TemplateValue::Missing | TemplateValue::Null => out.push("null"),
        TemplateValue::Bool(bool) => out.push(if bool { "true" } else { "false" }),
        TemplateValue::Number(number) => write_json_number(number, out),
        TemplateValue::Text(text) => write_json_string(text, out),
        TemplateValue::List(list) => write_json_list(list, out, depth),
        TemplateValue::Map(map) => write_json_map(map, out, depth),
    }
}

fn write_json_number(number: ExactNumber, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    out.budget.spend(number.cost())?;
    out.push(&number.to_json_text())
}

fn write_json_list(list: &[Value], out: &mut TextWriter<'_>, depth: usize) -> Result<(), EvalError> {
    out.push("[")?;
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            out.push(",")?;
        }
        write_json(TemplateValue::from(item), out, depth + 1)?;
    }
    out.push("]")
}

fn write_json_map(map: TemplateMap<'_>, out: &mut TextWriter<'_>, depth: usize) -> Result<(), EvalError> {
    out.push("{")?;
    out.budget.spend(4 * map.len())?;
    for (index, (name, item)) in map.sorted().into_iter().enumerate() {
        if index > 0 {
            out.push(",")?;
        }
        write_json_string(name, out)?;
        out.push(":")?;
        write_json(TemplateValue::from(item), out, depth + 1)?;
    }
    out.push("}")
}

fn write_json_string(text: &str, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    out.push("\"")?;
    escape::replace_chars(text, out, |c| {
        Some(match c {
            '"' => "\\\"".into(),
            '\\' => "\\\\".into(),
            '\n' => "\\n".into(),
            '\r' => "\\r".into(),
            '\t' => "\\t".into(),
            '\u{8}' => "\\b".into(),
            '\u{c}' => "\\f".into(),
            '<' | '>' | '&' | '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => {
                format!("\\u{:04x}", u32::from(c)).into()
            }
            _ => return None,
        })
    })?;
    out.push("\"")
}

/// Returns true if a value nests deeper than the limit.
pub(crate) fn is_too_deep(value: &Value) -> bool {
    fn deeper(value: &Value, depth: usize) -> bool {
        depth > limits::DEPTH
            || match value {
                Value::Array(list) => list.iter().any(|item| deeper(item, depth + 1)),
                Value::Object(object) => object.values().any(|item| deeper(item, depth + 1)),
                _ => false,
            }
    }
    deeper(value, 0)
}

/// Writes values as `print` does: with spaces only between non-strings.
pub(crate) fn write_spaced(values: &[TemplateValue<'_>], out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    let is_text = |value: &TemplateValue<'_>| matches!(value, TemplateValue::Text(_));
    for (index, value) in values.iter().enumerate() {
        if index > 0 && !is_text(value) && !is_text(&values[index - 1]) {
            out.push(" ")?;
        }
        write_plain(*value, out)?;
    }
    Ok(())
}
