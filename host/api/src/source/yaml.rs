//! YAML as JSON, within bounds. An alias counts as a copy of its target.

use std::collections::HashMap;

use loggia_facade::Object;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Number, Value};

use super::document::{DocumentError, too_many_values};
use crate::limits;

/// A list or map under construction.
enum OpenValue {
    List(Vec<Value>),
    Map(Object, Option<String>),
}

struct OpenNode {
    value: OpenValue,
    anchor: usize,
    /// Values before this node began: the difference is its own size.
    before: usize,
}

#[derive(Default)]
struct YamlReader {
    open: Vec<OpenNode>,
    root: Option<Value>,
    /// Targets of aliases, with their sizes and depths.
    anchors: HashMap<usize, (Value, usize)>,
    values: usize,
    bytes: usize,
}

/// Reads one YAML document.
pub(super) fn read(text: &str) -> Result<Value, DocumentError> {
    let mut reader = YamlReader::default();
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| DocumentError::Syntax(error.to_string()))?;
        let at = |reason: &str| DocumentError::Syntax(format!("line {}: {reason}", span.start.line().max(1)));
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                reader.grow(1, text.len())?;
                let value = scalar(&text, style, tag.as_deref());
                if anchor > 0 {
                    reader.anchors.insert(anchor, (value.clone(), 1));
                }
                // The key of a map is its text: `200` names a response.
                reader.add(value, Some(&text)).map_err(at)?;
            }
            Event::SequenceStart(anchor, _) => {
                reader.begin(OpenValue::List(Vec::new()), anchor)?;
            }
            Event::MappingStart(anchor, _) => {
                reader.begin(OpenValue::Map(Object::new(), None), anchor)?;
            }
            Event::SequenceEnd | Event::MappingEnd => reader.end().map_err(at)?,
            Event::Alias(anchor) => {
                let Some((value, size)) = reader.anchors.get(&anchor) else {
                    return Err(at("an alias names nothing before it"));
                };
                let (value, size) = (value.clone(), *size);
                reader.grow(size, 0)?;
                reader.add(value, None).map_err(at)?;
            }
            Event::DocumentStart(_) if reader.root.is_some() => {
                return Err(at("the file holds several documents"));
            }
            Event::StreamEnd => break,
            _ => {}
        }
    }
    reader.root.ok_or_else(|| DocumentError::Syntax("it is empty".into()))
}

impl YamlReader {
    fn grow(&mut self, values: usize, bytes: usize) -> Result<(), DocumentError> {
        self.values += values;
        self.bytes += bytes;
        if self.values > limits::NODES || self.bytes > limits::DOCUMENT {
            return Err(too_many_values());
        }
        Ok(())
    }

    fn begin(&mut self, value: OpenValue, anchor: usize) -> Result<(), DocumentError> {
        self.grow(1, 0)?;
        if self.open.len() >= limits::NESTING {
            return Err(DocumentError::Large(format!("it nests more than {} levels", limits::NESTING)));
        }
        self.open.push(OpenNode { value, anchor, before: self.values - 1 });
        Ok(())
    }

    fn end(&mut self) -> Result<(), &'static str> {
        let Some(node) = self.open.pop() else { return Ok(()) };
        let value = match node.value {
            OpenValue::List(list) => Value::Array(list),
            OpenValue::Map(map, _) => Value::Object(map),
        };
        if node.anchor > 0 {
            self.anchors.insert(node.anchor, (value.clone(), self.values - node.before));
        }
        self.add(value, None)
    }

    /// Adds a value to the open list or map. `key` is its text, if it has one.
    fn add(&mut self, value: Value, key: Option<&str>) -> Result<(), &'static str> {
        match self.open.last_mut().map(|node| &mut node.value) {
            None => self.root = Some(value),
            Some(OpenValue::List(list)) => list.push(value),
            Some(OpenValue::Map(map, pending)) => match pending.take() {
                None => {
                    let name = match (key, &value) {
                        (Some(text), _) => text.to_owned(),
                        (None, Value::String(text)) => text.clone(),
                        (None, Value::Number(number)) => number.to_string(),
                        _ => return Err("a key is a list or a map"),
                    };
                    *pending = Some(name);
                }
                Some(name) if name == "<<" => merge(map, value)?,
                Some(name) => {
                    map.insert(name, value);
                }
            },
        }
        Ok(())
    }
}

/// Merges the members of a map, or of a list of maps, that the map itself does not have.
fn merge(map: &mut Object, value: Value) -> Result<(), &'static str> {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                map.entry(name).or_insert(value);
            }
            Ok(())
        }
        Value::Array(list) => list.into_iter().try_for_each(|value| merge(map, value)),
        _ => Err("`<<` merges maps only"),
    }
}

/// The value of a scalar in YAML's core schema.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    if style != ScalarStyle::Plain || is_text {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

/// Numbers in decimal. Others, such as `0x1f`, are text: documents have them only in examples.
fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') || digits == "." {
        return None;
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let whole = text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from));
    whole.ok().or_else(|| Number::from_f64(text.parse().ok()?))
}
