//! Values as Go prints them.

use serde_json::Value;

use super::escape;
use crate::template::{
    error::EvalError,
    limits,
    output::TextWriter,
    value::{ExactNumber, TemplateMap, TemplateValue},
};

/// What an action prints of nothing.
pub(crate) const NO_VALUE: &str = "<no value>";

/// What stands for nothing within other data, and in what functions print.
pub(crate) const NIL: &str = "<nil>";

/// As an action prints it.
pub(crate) fn action(value: TemplateValue<'_>, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    if value.is_nil() { out.push(NO_VALUE) } else { plain(value, out) }
}

/// As `print` and `%v` do.
pub(crate) fn plain(value: TemplateValue<'_>, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    write(value, out, 0, &|value, out| match value {
        TemplateValue::Bool(bool) => out.push(if bool { "true" } else { "false" }),
        TemplateValue::Number(number) => {
            out.budget.spend(number.cost())?;
            out.push(&number.text())
        }
        TemplateValue::Text(text) => out.push(text),
        _ => out.push(NIL),
    })
}

/// Writes lists and maps as Go does, and what they hold by a function.
pub(crate) fn write(
    value: TemplateValue<'_>,
    out: &mut TextWriter<'_>,
    depth: usize,
    leaf: LeafWriter<'_>,
) -> Result<(), EvalError> {
    if depth > limits::DEPTH {
        return Err(too_deep());
    }
    // Each kind in a function of its own: what is deep takes a frame of the stack for each level.
    match value {
        TemplateValue::List(list) => write_list(list, out, depth, leaf),
        TemplateValue::Map(map) => write_map(map, out, depth, leaf),
        value => leaf(value, out),
    }
}

/// How a function writes what is no list and no map.
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

pub(crate) fn too_deep() -> EvalError {
    EvalError::new(format!("template expansion depth limit exceeded: {}", limits::DEPTH))
}

/// As Go's `json.Marshal` writes it: names sorted, and what HTML reads escaped.
pub(crate) fn json(
    value: TemplateValue<'_>,
    out: &mut TextWriter<'_>,
    depth: usize,
) -> Result<(), EvalError> {
    if depth > limits::DEPTH {
        return Err(too_deep());
    }
    match value {
        TemplateValue::Missing | TemplateValue::Null => out.push("null"),
        TemplateValue::Bool(bool) => out.push(if bool { "true" } else { "false" }),
        TemplateValue::Number(number) => json_number(number, out),
        TemplateValue::Text(text) => json_string(text, out),
        TemplateValue::List(list) => json_list(list, out, depth),
        TemplateValue::Map(map) => json_map(map, out, depth),
    }
}

fn json_number(number: ExactNumber, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    out.budget.spend(number.cost())?;
    out.push(&number.json_text())
}

fn json_list(list: &[Value], out: &mut TextWriter<'_>, depth: usize) -> Result<(), EvalError> {
    out.push("[")?;
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            out.push(",")?;
        }
        json(TemplateValue::from(item), out, depth + 1)?;
    }
    out.push("]")
}

fn json_map(map: TemplateMap<'_>, out: &mut TextWriter<'_>, depth: usize) -> Result<(), EvalError> {
    out.push("{")?;
    out.budget.spend(4 * map.len())?;
    for (index, (name, item)) in map.sorted().into_iter().enumerate() {
        if index > 0 {
            out.push(",")?;
        }
        json_string(name, out)?;
        out.push(":")?;
        json(TemplateValue::from(item), out, depth + 1)?;
    }
    out.push("}")
}

fn json_string(text: &str, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    out.push("\"")?;
    escape::runs(text, out, |c| {
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

/// Whether a value is deeper than what may be written.
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

/// As `print` does: spaces only between what is no string.
pub(crate) fn spaced(values: &[TemplateValue<'_>], out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    let is_text = |value: &TemplateValue<'_>| matches!(value, TemplateValue::Text(_));
    for (index, value) in values.iter().enumerate() {
        if index > 0 && !is_text(value) && !is_text(&values[index - 1]) {
            out.push(" ")?;
        }
        plain(*value, out)?;
    }
    Ok(())
}
