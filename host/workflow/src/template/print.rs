//! Values as Go prints them.

use serde_json::Value;

use super::{
    EvalError, limits,
    number::Num,
    text::Text,
    value::{Map, Val},
};

/// What an action prints of nothing.
pub(super) const NO_VALUE: &str = "<no value>";

/// What stands for nothing within other data, and in what functions print.
pub(super) const NIL: &str = "<nil>";

/// As an action prints it.
pub(super) fn action(value: Val<'_>, out: &mut Text<'_>) -> Result<(), EvalError> {
    if value.is_nil() { out.push(NO_VALUE) } else { plain(value, out) }
}

/// As `print` and `%v` do.
pub(super) fn plain(value: Val<'_>, out: &mut Text<'_>) -> Result<(), EvalError> {
    write(value, out, 0, &|value, out| match value {
        Val::Bool(bool) => out.push(if bool { "true" } else { "false" }),
        Val::Number(number) => {
            out.budget.spend(number.cost())?;
            out.push(&number.text())
        }
        Val::Text(text) => out.push(text),
        _ => out.push(NIL),
    })
}

/// Writes lists and maps as Go does, and what they hold by a function.
pub(super) fn write(
    value: Val<'_>,
    out: &mut Text<'_>,
    depth: usize,
    leaf: Leaf<'_>,
) -> Result<(), EvalError> {
    if depth > limits::DEPTH {
        return Err(too_deep());
    }
    // Each kind in a function of its own: what is deep takes a frame of the stack for each level.
    match value {
        Val::List(list) => write_list(list, out, depth, leaf),
        Val::Map(map) => write_map(map, out, depth, leaf),
        value => leaf(value, out),
    }
}

/// How a function writes what is no list and no map.
type Leaf<'l> = &'l dyn Fn(Val<'_>, &mut Text<'_>) -> Result<(), EvalError>;

fn write_list(list: &[Value], out: &mut Text<'_>, depth: usize, leaf: Leaf<'_>) -> Result<(), EvalError> {
    out.push("[")?;
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            out.push(" ")?;
        }
        write(Val::from(item), out, depth + 1, leaf)?;
    }
    out.push("]")
}

fn write_map(map: Map<'_>, out: &mut Text<'_>, depth: usize, leaf: Leaf<'_>) -> Result<(), EvalError> {
    out.push("map[")?;
    out.budget.spend(4 * map.len())?;
    for (index, (name, item)) in map.sorted().into_iter().enumerate() {
        if index > 0 {
            out.push(" ")?;
        }
        leaf(Val::Text(name), out)?;
        out.push(":")?;
        write(Val::from(item), out, depth + 1, leaf)?;
    }
    out.push("]")
}

pub(super) fn too_deep() -> EvalError {
    EvalError::new(format!("template expansion depth limit exceeded: {}", limits::DEPTH))
}

/// As Go's `json.Marshal` writes it: names sorted, and what HTML reads escaped.
pub(super) fn json(value: Val<'_>, out: &mut Text<'_>, depth: usize) -> Result<(), EvalError> {
    if depth > limits::DEPTH {
        return Err(too_deep());
    }
    match value {
        Val::Missing | Val::Null => out.push("null"),
        Val::Bool(bool) => out.push(if bool { "true" } else { "false" }),
        Val::Number(number) => json_number(number, out),
        Val::Text(text) => json_string(text, out),
        Val::List(list) => json_list(list, out, depth),
        Val::Map(map) => json_map(map, out, depth),
    }
}

fn json_number(number: Num, out: &mut Text<'_>) -> Result<(), EvalError> {
    out.budget.spend(number.cost())?;
    out.push(&number.json_text())
}

fn json_list(list: &[Value], out: &mut Text<'_>, depth: usize) -> Result<(), EvalError> {
    out.push("[")?;
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            out.push(",")?;
        }
        json(Val::from(item), out, depth + 1)?;
    }
    out.push("]")
}

fn json_map(map: Map<'_>, out: &mut Text<'_>, depth: usize) -> Result<(), EvalError> {
    out.push("{")?;
    out.budget.spend(4 * map.len())?;
    for (index, (name, item)) in map.sorted().into_iter().enumerate() {
        if index > 0 {
            out.push(",")?;
        }
        json_string(name, out)?;
        out.push(":")?;
        json(Val::from(item), out, depth + 1)?;
    }
    out.push("}")
}

fn json_string(text: &str, out: &mut Text<'_>) -> Result<(), EvalError> {
    out.push("\"")?;
    super::escape::runs(text, out, |c| {
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
pub(super) fn is_too_deep(value: &Value) -> bool {
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
pub(super) fn spaced(values: &[Val<'_>], out: &mut Text<'_>) -> Result<(), EvalError> {
    let is_text = |value: &Val<'_>| matches!(value, Val::Text(_));
    for (index, value) in values.iter().enumerate() {
        if index > 0 && !is_text(value) && !is_text(&values[index - 1]) {
            out.push(" ")?;
        }
        plain(*value, out)?;
    }
    Ok(())
}
