//! YAML as JSON, within bounds. An alias counts as a copy of its target.

use std::collections::HashMap;

use loggia_facade::Object;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Number, Value};

use super::document_error::DocumentError;
use crate::limits;

/// A list or map under construction.
enum OpenValue {
    List(Vec<Value>),
    Map(Object, Option<String>),
}

struct OpenNode {
    value: OpenValue,
    anchor: usize,
    /// Values and bytes of text before this node began: the differences are its own size.
    before: (usize, usize),
    /// Levels below this node so far.
    depth: usize,
}

/// Target of aliases.
struct AnchoredValue {
    value: Value,
    /// Values, and bytes of text.
    size: (usize, usize),
    depth: usize,
}

#[derive(Default)]
struct YamlReader {
    open: Vec<OpenNode>,
    root: Option<Value>,
    anchors: HashMap<usize, AnchoredValue>,
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
                    reader.anchor(anchor, &value, (1, text.len()), 0)?;
                }
                // The key of a map is its text: `200` names a response.
                reader.add(value, Some(&text), 0).map_err(at)?;
            }
            Event::SequenceStart(anchor, _) => {
                reader.begin(OpenValue::List(Vec::new()), anchor)?;
            }
            Event::MappingStart(anchor, _) => {
                reader.begin(OpenValue::Map(Object::new(), None), anchor)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some((value, depth)) = reader.end()? {
                    reader.add(value, None, depth).map_err(at)?;
                }
            }
            Event::Alias(anchor) => {
                let Some(target) = reader.anchors.get(&anchor) else {
                    return Err(at("an alias names nothing before it"));
                };
                let (size, depth) = (target.size, target.depth);
                reader.check_depth(depth)?;
                reader.grow(size.0, size.1)?;
                // Copied only once it is known to fit.
                let value = reader.anchors.get(&anchor).map(|target| target.value.clone());
                reader.add(value.unwrap_or_default(), None, depth).map_err(at)?;
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
            return Err(DocumentError::too_many_values());
        }
        Ok(())
    }

    fn begin(&mut self, value: OpenValue, anchor: usize) -> Result<(), DocumentError> {
        self.grow(1, 0)?;
        self.check_depth(1)?;
        self.open.push(OpenNode { value, anchor, before: (self.values - 1, self.bytes), depth: 0 });
        Ok(())
    }

    /// Checks that this many more levels fit. A tree of any depth could not even be dropped.
    fn check_depth(&self, more: usize) -> Result<(), DocumentError> {
        if self.open.len() + more > limits::NESTING {
            return Err(DocumentError::Large(format!("it nests more than {} levels", limits::NESTING)));
        }
        Ok(())
    }

    /// Keeps the target of aliases: a copy, which counts.
    fn anchor(
        &mut self,
        anchor: usize,
        value: &Value,
        size: (usize, usize),
        depth: usize,
    ) -> Result<(), DocumentError> {
        self.grow(size.0, size.1)?;
        self.anchors.insert(anchor, AnchoredValue { value: value.clone(), size, depth });
        Ok(())
    }

    /// Ends the innermost list or map, and returns it with its depth.
    fn end(&mut self) -> Result<Option<(Value, usize)>, DocumentError> {
        let Some(node) = self.open.pop() else { return Ok(None) };
        let value = match node.value {
            OpenValue::List(list) => Value::Array(list),
            OpenValue::Map(map, _) => Value::Object(map),
        };
        let depth = node.depth + 1;
        if node.anchor > 0 {
            let size = (self.values - node.before.0, self.bytes - node.before.1);
            self.anchor(node.anchor, &value, size, depth)?;
        }
        Ok(Some((value, depth)))
    }

    /// Adds a value of this depth to the open list or map. `key` is its text, if it has one.
    fn add(&mut self, value: Value, key: Option<&str>, depth: usize) -> Result<(), &'static str> {
        if let Some(node) = self.open.last_mut() {
            node.depth = node.depth.max(depth);
        }
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
