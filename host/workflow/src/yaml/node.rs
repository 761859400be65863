//! YAML nodes with their line numbers.

use serde_json::{Map, Value as Json};

use crate::Problem;

/// A part of a file, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlNode {
    /// Counted from 1.
    pub line: usize,
    /// What stands there.
    pub value: YamlValue,
}

/// What can stand in a file.
#[derive(Debug, Clone, PartialEq)]
pub enum YamlValue {
    /// A text.
    Text(String),
    /// Null, true or false, or a number, without quotes; and as it is written.
    Plain(Json, String),
    /// A number that JSON does not have, as it is written.
    Unreal(String),
    /// `[…]`
    List(Vec<YamlNode>),
    /// `{…}`, in the file's order.
    Map(Vec<MapEntry>),
}

/// A name with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct MapEntry {
    /// The name.
    pub key: String,
    /// Where the name stands.
    pub line: usize,
    /// The value.
    pub node: YamlNode,
}

/// A file as a tree, and what is wrong with it that does not keep it from being one.
#[derive(Debug)]
pub struct YamlTree {
    /// The document.
    pub root: YamlNode,
    /// Names that stand twice, and the like.
    pub problems: Vec<Problem>,
}

impl YamlNode {
    /// Whether it is null, which is the same as not being there.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, YamlValue::Plain(Json::Null, _))
    }

    /// What stands under a name.
    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        let YamlValue::Map(entries) = &self.value else { return None };
        entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// As JSON.
    ///
    /// # Errors
    ///
    /// The line of a number that JSON does not have, and the number.
    pub fn json(&self) -> Result<Json, (usize, String)> {
        Ok(match &self.value {
            YamlValue::Text(text) => Json::String(text.clone()),
            YamlValue::Plain(value, _) => value.clone(),
            YamlValue::Unreal(written) => return Err((self.line, written.clone())),
            YamlValue::List(items) => {
                Json::Array(items.iter().map(YamlNode::json).collect::<Result<_, _>>()?)
            }
            YamlValue::Map(entries) => {
                let members = entries.iter().map(|entry| Ok((entry.key.clone(), entry.node.json()?)));
                Json::Object(members.collect::<Result<Map<_, _>, _>>()?)
            }
        })
    }

    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
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
