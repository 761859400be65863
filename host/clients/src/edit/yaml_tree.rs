//! YAML as JSON, with the lines of keys.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

use super::fault::SyntaxFault;

/// A mapping of the first or the second level, in block style.
pub(super) struct BlockKey {
    /// Names from the root.
    pub(super) path: Vec<String>,
    /// From 0.
    pub(super) line: usize,
    /// From 0, in characters.
    pub(super) column: usize,
}

/// Mappings below this many levels have no keys that are edited.
const LEVELS: usize = 2;
/// Values of a file, and its depth: a file of a person.
const VALUES: usize = 100_000;
const DEPTH: usize = 64;

/// Reads a file with one document.
pub(super) fn read(text: &str) -> Result<Value, SyntaxFault> {
    read_with_keys(text).map(|(value, _)| value)
}

/// Reads a file, with the keys of its first levels.
pub(super) fn read_with_keys(text: &str) -> Result<(Value, Vec<BlockKey>), SyntaxFault> {
    let mut reader = TreeReader::default();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| SyntaxFault {
            line: error.marker().line().max(1),
            column: error.marker().col() + 1,
            reason: error.info().to_owned(),
        })?;
        let (line, column) = (span.start.line().max(1), span.start.col());
        let fault = |reason: &str| SyntaxFault { line, column: column + 1, reason: reason.to_owned() };
        reader.count += 1;
        if reader.count > VALUES || reader.open.len() > DEPTH {
            return Err(fault("the file is too large"));
        }
        match event {
            Event::DocumentStart(_) => documents += 1,
            Event::Scalar(text, style, ..) => reader.scalar(&text, style, line - 1, column),
            // What it stands for is compared nowhere: an edit does not touch it.
            Event::Alias(anchor) => {
                reader.scalar(&format!("*{anchor}"), ScalarStyle::DoubleQuoted, line - 1, column);
            }
            Event::MappingStart(..) => reader.open.push(OpenNode::Map(Map::new(), None)),
            Event::SequenceStart(..) => reader.open.push(OpenNode::List(Vec::new())),
            Event::MappingEnd | Event::SequenceEnd => {
                let value = match reader.open.pop() {
                    Some(OpenNode::Map(members, _)) => Value::Object(members),
                    Some(OpenNode::List(items)) => Value::Array(items),
                    None => Value::Null,
                };
                reader.add(value).map_err(|reason| fault(&reason))?;
            }
            _ => {}
        }
        if documents > 1 {
            return Err(fault("the file has more than one document"));
        }
        if let Some(reason) = reader.fault.take() {
            return Err(fault(&reason));
        }
    }
    let root = match reader.root {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(root) => root,
    };
    Ok((root, reader.keys))
}

enum OpenNode {
    Map(Map<String, Value>, Option<String>),
    List(Vec<Value>),
}

#[derive(Default)]
struct TreeReader {
    open: Vec<OpenNode>,
    root: Option<Value>,
    keys: Vec<BlockKey>,
    count: usize,
    fault: Option<String>,
}

impl TreeReader {
    fn scalar(&mut self, text: &str, style: ScalarStyle, line: usize, column: usize) {
        if let Some(OpenNode::Map(_, key @ None)) = self.open.last_mut() {
            *key = Some(text.to_owned());
            if self.open.len() <= LEVELS {
                let names = self.open.iter().map_while(|node| match node {
                    OpenNode::Map(_, key) => key.clone(),
                    OpenNode::List(_) => None,
                });
                let path: Vec<String> = names.collect();
                if path.len() == self.open.len() {
                    self.keys.push(BlockKey { path, line, column });
                }
            }
            return;
        }
        self.fault = self.add(plain(text, style)).err();
    }

    fn add(&mut self, value: Value) -> Result<(), String> {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(OpenNode::List(items)) => items.push(value),
            Some(OpenNode::Map(members, key)) => match key.take() {
                Some(key) if members.contains_key(&key) => {
                    return Err(format!("the key `{key:.40}` is there twice"));
                }
                Some(key) => drop(members.insert(key, value)),
                None => return Err("a key is not a text".to_owned()),
            },
        }
        Ok(())
    }
}

/// The value of a scalar in YAML's core schema, as far as an entry has it.
fn plain(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return text.into();
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ => text.parse::<i64>().map_or_else(|_| text.into(), Into::into),
    }
}
