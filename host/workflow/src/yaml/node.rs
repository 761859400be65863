//! YAML nodes with their line numbers.

use serde_json::{Map, Value as Json};

use crate::FileProblem;

/// YAML node with its line number.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlNode {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Value.
    pub value: YamlValue,
}

/// Values in YAML.
#[derive(Debug, Clone, PartialEq)]
pub enum YamlValue {
    /// Text.
    Text(String),
    /// Plain null, boolean or number, with its source text.
    Plain(Json, String),
    /// Number that JSON cannot represent, as written.
    Unreal(String),
    /// `[…]`
    List(Vec<YamlNode>),
    /// `{…}`, in file order.
    Map(Vec<MapEntry>),
}

/// Key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct MapEntry {
    /// Key.
    pub key: String,
    /// Line of the key.
    pub line: usize,
    /// Column of the key, from 1.
    pub column: usize,
    /// Value.
    pub node: YamlNode,
}

/// Parsed file, with problems that do not prevent parsing.
#[derive(Debug)]
pub struct YamlTree {
    /// Root node.
    pub root: YamlNode,
    /// Duplicate keys and unknown tags.
    pub problems: Vec<FileProblem>,
}

impl YamlNode {
    /// Returns true for null, which counts as absent.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, YamlValue::Plain(Json::Null, _))
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        let YamlValue::Map(entries) = &self.value else { return None };
        entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// Converts to JSON.
    ///
    /// # Errors
    ///
    /// Line and text of a number that JSON cannot represent.
    pub fn to_json(&self) -> Result<Json, (usize, String)> {
        Ok(match &self.value {
            YamlValue::Text(text) => Json::String(text.clone()),
            YamlValue::Plain(value, _) => value.clone(),
            YamlValue::Unreal(written) => return Err((self.line, written.clone())),
            YamlValue::List(items) => {
                Json::Array(items.iter().map(YamlNode::to_json).collect::<Result<_, _>>()?)
            }
            YamlValue::Map(entries) => {
                let members = entries.iter().map(|entry| Ok((entry.key.clone(), entry.node.to_json()?)));
                Json::Object(members.collect::<Result<Map<_, _>, _>>()?)
            }
        })
    }

    /// Describes the kind of value in plain words.
    pub fn kind_name(&self) -> &'static str {
        match &self.value {
            YamlValue::Text(_) => "a text",
            YamlValue::Plain(Json::Null, _) => "null",
            YamlValue::Plain(Json::Bool(_), _) => "true or false",
            YamlValue::Plain(..) | YamlValue::Unreal(_) => "a number",
            YamlValue::List(_) => "a list",
            YamlValue::Map(_) => "an object",
        }
    }
}
